"""Streams that measuring tools are known to get wrong, each with the truth beside it.

The truth is a schedule of 50 tokens: the first 200 ms after the request was sent, then one every
20 ms. What arrives is fed with its moment, so that every figure has one right value.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from runs.engine.judge import Contract, Expectation, judge_request, to_result
from runs.engine.outcomes import Outcome
from runs.engine.reading import BodyReader
from runs.engine.records import Ending, Exchange, RequestResult, RequestSpec
from runs.engine.timeline import build_timeline, count_tokens

MS = 1_000_000
SENT_NS = 1_000 * MS
FIRST_MS, EVERY_MS, TOKENS = 200, 20, 50
LAST_MS = FIRST_MS + EVERY_MS * (TOKENS - 1)
Piece = tuple[float, bytes]  # ms after the request was sent, bytes
DONE = b"data: [DONE]\n\n"


def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice], **more}).encode() + b"\n\n"


def says(number: int, *, times: int = 1, name: str = "content") -> bytes:
    """`times` tokens in one chunk, told apart by their number."""
    text = "".join(f"w{n:02d} " for n in range(number, number + times))
    return event({name: text})


def at(number: int) -> float:
    """When the truth has the token with this number."""
    return FIRST_MS + EVERY_MS * number


def usage(tokens: int = TOKENS) -> bytes:
    counts = {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens}
    return b"data: " + json.dumps({"choices": [], "usage": counts}).encode() + b"\n\n"


def steady(tokens: int = TOKENS) -> list[Piece]:
    return [(at(n), says(n)) for n in range(tokens)]


END: list[Piece] = [(LAST_MS, event({}, "stop") + usage() + DONE)]


def measured(
    pieces: Sequence[Piece], ending: Ending = Ending.COMPLETE, **expect: Any
) -> RequestResult:
    """What the instrument makes of it."""
    spec = RequestSpec("POST", "/chat/completions", {}, True, "stream", "stream", "fresh")
    reader = BodyReader(content_type="text/event-stream", line_bytes=1 << 20)
    for at_ms, data in pieces:
        reader.feed([(SENT_NS + round(at_ms * MS), data)])
    reading = reader.close(is_whole=ending in (Ending.COMPLETE, Ending.EOF))
    exchange = Exchange(spec, started_ns=SENT_NS, sent_ns=SENT_NS, status=200, ending=ending)
    exchange.ended_ns = reading.last_byte_ns or SENT_NS
    tokens = count_tokens(reading)
    timeline = build_timeline(exchange, reading, tokens)
    expectation = Expectation(**expect)
    found = judge_request(exchange, reading, timeline, tokens, expectation, Contract())
    return to_result(0, exchange, reading, timeline, tokens, expectation, found)


@pytest.mark.parametrize(
    "before",
    [
        [],
        [(50, event({"role": "assistant", "content": ""}))],
        [(50, event({"role": "assistant", "content": None}))],
        [(ms, event({"content": ""})) for ms in range(20, 200, 20)],
        [(30, b": keep-alive\n\n"), (90, b": keep-alive\n\n")],
    ],
    ids=["nothing", "a role", "a role and null", "empty texts", "comments"],
)
def test_what_comes_before_the_first_token_is_no_token(before: list[Piece]) -> None:
    result = measured([*before, *steady(), *END])
    assert result.outcome is Outcome.CLEAN_PASS
    assert (result.timeline.ttft_ms, result.timeline.first_content_ms) == (200, 200)
    assert result.timeline.tpot_ms == pytest.approx(20)
    assert result.timeline.decode_tps == pytest.approx(50)
    assert result.timeline.longest_stall_ms == pytest.approx(20)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_starts_the_clock_and_the_answer_has_a_figure_of_its_own(name: str) -> None:
    thought = [(at(n), says(n, name=name)) for n in range(25)]
    result = measured([*thought, *steady()[25:], *END])
    timeline = result.timeline
    assert (timeline.ttft_ms, timeline.first_reasoning_ms) == (200, 200)
    assert timeline.first_content_ms == 700
    assert timeline.tpot_ms == pytest.approx(20)


def test_five_tokens_a_chunk_take_no_tenth_off_the_time_of_one() -> None:
    """Divided by all but one of them it would be 18.4 ms."""
    result = measured([*((at(n + 4), says(n, times=5)) for n in range(0, TOKENS, 5)), *END])
    assert result.timeline.itl_mean_ms == pytest.approx(100)
    assert result.timeline.tpot_ms == pytest.approx(20)


def test_four_chunks_in_one_segment_are_one_arrival() -> None:
    """Their gaps of 0 would make the median gap 0, and the first four 19.6 ms of 20."""
    groups = [range(n, min(n + 4, TOKENS)) for n in range(0, TOKENS, 4)]
    bursts = [(at(g[-1]), b"".join(says(n) for n in g)) for g in groups]
    timeline = measured([*bursts, *END]).timeline
    assert timeline.coalesced_chunks == TOKENS - len(groups)
    assert timeline.itl_mean_ms == pytest.approx(920 / 12)
    assert timeline.tpot_ms == pytest.approx(20)


def test_a_whole_answer_in_one_chunk_has_no_gaps_and_no_rate() -> None:
    result = measured([(LAST_MS, says(0, times=TOKENS)), *END])
    timeline = result.timeline
    assert (timeline.itl_mean_ms, timeline.tpot_ms, timeline.decode_tps) == (None, None, None)
    assert timeline.decode_tps_reason == "timing_artifact"
    assert (result.outcome, result.failure_class) == (Outcome.DEGRADED, "buffered_stream")


def test_without_usage_nothing_is_filled_in() -> None:
    result = measured([*steady(), (LAST_MS, event({}, "stop") + DONE)])
    assert (result.tokens.completion, result.tokens.origin) == (TOKENS, "chunks")
    assert (result.timeline.tpot_ms, result.timeline.decode_tps) == (None, None)
    assert (result.outcome, result.failure_class) == (Outcome.DEGRADED, "missing_usage")


@pytest.mark.parametrize("choices", [[], [{"index": 0, "delta": {}}]])
def test_usage_counts_wherever_it_comes(choices: list[dict[str, Any]]) -> None:
    counts = {"prompt_tokens": 100, "completion_tokens": TOKENS, "total_tokens": 150}
    on_finish = [(LAST_MS, event({}, "stop", usage=counts) + DONE)]
    own = b"data: " + json.dumps({"choices": choices, "usage": counts}).encode() + b"\n\n"
    afterwards = [(LAST_MS, event({}, "stop") + own + DONE)]
    for end in (on_finish, afterwards):
        result = measured([*steady(), *end])
        assert result.outcome is Outcome.CLEAN_PASS
        assert (result.tokens.completion, result.tokens.origin) == (TOKENS, "usage")


def test_a_call_alone_has_a_first_token_and_the_servers_count() -> None:
    fragments = ['{"ci', 'ty": "', "Ro", 'me"', "}"]
    calls = [
        {
            "index": 0,
            "function": {"arguments": text} | ({} if n else {"name": "lookup_weather"}),
            **({} if n else {"id": "call_1", "type": "function"}),
        }
        for n, text in enumerate(fragments)
    ]
    pieces = [(at(n), event({"tool_calls": [call]})) for n, call in enumerate(calls)]
    end = (at(4), event({}, "tool_calls") + usage(5) + DONE)
    result = measured([*pieces, end], tool="lookup_weather")
    assert result.outcome is Outcome.CLEAN_PASS
    assert (result.timeline.ttft_ms, result.timeline.first_tool_ms) == (200, 200)
    assert (result.tokens.completion, result.timeline.token_chunks) == (5, 5)


@pytest.mark.parametrize(
    ("after", "ending", "failure_class"),
    [
        (b"", Ending.COMPLETE, "truncated_stream"),
        (b"", Ending.EOF, "truncated_stream"),
        (says(10)[:20], Ending.CLOSED_EARLY, "truncated_stream"),
        (b'data: {"error": {"message": "boom"}}\n\n', Ending.COMPLETE, "error_in_stream"),
        (b'data: {"error": {"message": "boom"}}\n\n' + DONE, Ending.COMPLETE, "error_in_stream"),
        (b": still here\n\n", Ending.IDLE_TIMEOUT, "stalled_decode"),
    ],
)
def test_ten_of_fifty_tokens_are_a_failure_and_never_a_fast_success(
    after: bytes, ending: Ending, failure_class: str
) -> None:
    result = measured([*steady(10), *([(400, after)] if after else [])], ending)
    assert (result.outcome, result.failure_class) == (Outcome.FAIL, failure_class)
    assert result.tokens.completion == 10
    assert result.timeline.decode_tps is None


@pytest.mark.parametrize(("held", "silence_ms"), [(1, 800), (10, 30_000)])
def test_a_stall_is_not_hidden_in_a_mean(held: int, silence_ms: int) -> None:
    late = [(ms + (silence_ms if n >= held else 0), data) for n, (ms, data) in enumerate(steady())]
    timeline = measured([*late, (LAST_MS + silence_ms, END[0][1])]).timeline
    assert timeline.longest_stall_ms == pytest.approx(silence_ms + EVERY_MS)
    assert timeline.itl_p99_ms == timeline.longest_stall_ms
    assert timeline.itl_mean_ms == pytest.approx(EVERY_MS + silence_ms / (TOKENS - 1))
