from __future__ import annotations

from typing import Any

import pytest

from runs.charts.axes import ticks
from runs.charts.prompts import prompt_plots
from runs.charts.timeline import request_picture
from runs.charts.waterfall import waterfall
from runs.models import RunRequest
from runs.storage import pack_offsets, unpack_offsets


def row(index: int = 0, **fields: Any) -> RunRequest:
    timeline = {"connect_ms": 10.0, "ttft_ms": 40.0, "first_content_ms": 40.0, "end_ms": 90.0}
    values: dict[str, Any] = {
        "index": index,
        "streamed": True,
        "started_offset_ms": 100.0 * index,
        "ttft_ms": 40.0,
        "end_ms": 90.0,
        "record": {"timeline": timeline},
        "token_offsets": pack_offsets([40.0, 60.0, 80.0]),
    }
    return RunRequest(**{**values, **fields})


@pytest.mark.parametrize(
    ("span", "labels"),
    [
        (0.0, []),
        (1.0, ["0 ms", "0.5 ms", "1 ms"]),
        (12_000.0, ["0 ms", "5 s", "10 s"]),
        (90.0, ["0 ms", "50 ms"]),
    ],
)
def test_an_axis_has_round_steps(span: float, labels: list[str]) -> None:
    assert [tick.label for tick in ticks(span)] == labels


def test_a_waterfall_places_every_request_on_the_runs_clock() -> None:
    picture = waterfall([row(0), row(1)])
    connect, prefill, decode = picture.rows[1].bars
    assert (connect.x, connect.width) == ("50.000%", "5.000%")
    assert (prefill.x, prefill.width) == ("55.000%", "20.000%")
    assert (decode.x, decode.width) == ("75.000%", "25.000%")


def test_a_request_without_a_token_has_no_decode_bar() -> None:
    (only,) = waterfall([row(ttft_ms=None)]).rows
    assert [bar.kind for bar in only.bars] == ["phase-connecting", "phase-prefill"]


def test_a_request_that_never_connected_draws_nothing() -> None:
    silent = row(ttft_ms=None, end_ms=None, record={"timeline": {}}, token_offsets=b"")
    assert waterfall([silent]).rows[0].bars == []
    picture = request_picture(silent)
    assert all(mark.bar is None for mark in picture.marks)
    assert "nothing was seen" in picture.summary


def test_a_request_picture_keeps_moments_apart_and_says_them_in_words() -> None:
    picture = request_picture(row())
    seen = {mark.key: mark.ms for mark in picture.marks if mark.ms is not None}
    assert seen == {"connect": 10.0, "first_content": 40.0, "end": 90.0}
    assert picture.arrivals == ["50.000%", "70.000%", "90.000%"]
    assert "first content 40.0 ms" in picture.summary


def test_many_token_chunks_are_thinned_for_drawing() -> None:
    many = row(token_offsets=pack_offsets([float(n) for n in range(5000)]))
    assert 300 <= len(request_picture(many).arrivals) <= 400


def test_offsets_survive_storing_to_the_microsecond() -> None:
    offsets = [0.0, 0.001, 12.345, 4_294_967.295]
    assert unpack_offsets(pack_offsets(offsets)) == offsets
    assert unpack_offsets(pack_offsets([1e12])) == [4_294_967.295]
    assert pack_offsets([]) == b""
    assert unpack_offsets(b"") == []


def test_a_longer_prompt_is_drawn_fresh_and_repeated_apart() -> None:
    def asked(pk: int, tokens: int, ttft_ms: float, cache: str = "fresh") -> RunRequest:
        said: dict[str, Any] = {"outcome": "clean_pass", "check_key": "long", "cache": cache}
        return row(pk=pk, prompt_tokens=tokens, ttft_ms=ttft_ms, **said)

    one_size = [asked(1, 8000, 2000.0), asked(2, 8000, 100.0, "repeat")]
    assert prompt_plots(one_size) == []

    prefill, rate = prompt_plots([*one_size, asked(3, 16000, 5000.0)])
    assert [(line.kind, len(line.points)) for line in prefill.lines] == [
        ("fresh", 2),
        ("repeat", 1),
    ]
    assert [point.title for point in rate.lines[0].points] == [
        "fresh, 8,000 tokens: 4,000 tok/s",
        "fresh, 16,000 tokens: 3,200 tok/s",
    ]
    assert len(rate.lines[0].joins) == 1


def test_a_whole_answer_is_one_bar_since_its_first_token_cannot_be_seen() -> None:
    (only,) = waterfall([row(streamed=False, ttft_ms=None)]).rows
    assert [bar.kind for bar in only.bars] == ["phase-connecting", "phase-whole"]
