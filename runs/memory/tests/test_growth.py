"""Growth points: before, peak, and what stays after idle, repeat and another prompt."""

from __future__ import annotations

import numpy as np
import pytest

from runs.memory.growth import record_growth
from runs.memory.models import GrowthPoint
from runs.memory.tests.conftest import GIB, write
from runs.models import Run, RunRequest

S = 1000.0


def ask(run: Run, index: int, at_s: float, took_s: float, **fields: object) -> RunRequest:
    """A clean request to the growth check, unless told otherwise."""
    about: dict[str, object] = {
        "check_key": "growth",
        "label": "x",
        "streamed": True,
        "cache": "fresh",
        "outcome": "clean_pass",
        "prompt_tokens": 8192,
    }
    about |= fields
    return RunRequest.objects.create(
        run=run,
        index=index,
        started_offset_ms=at_s * S,
        end_ms=took_s * S,
        record={"timeline": {"connect_ms": 0.0}},
        **about,
    )


def memory(run: Run, *levels: tuple[float, float], until_s: float = 60) -> None:
    """Samples twice a second; `levels` are (from second, GiB)."""
    times = np.arange(0.0, until_s, 0.5)
    values = np.full(len(times), np.nan)
    for start_s, gib in levels:
        values[times >= start_s] = gib * GIB
    write(run, "rss_bytes", times * S, values)


@pytest.fixture
def episode(run: Run) -> Run:
    """10 GiB before, 15 at the peak, 12 after idle, 12.5 after the repeat, 13 at last."""
    memory(run, (0, 10), (11, 15), (14, 12), (21, 12.5), (31, 13))
    ask(run, 0, 10, 3)
    ask(run, 1, 20, 1, cache="repeat")
    ask(run, 2, 30, 1, prompt_tokens=40)
    return run


def test_it_records_before_peak_and_what_stays_after_each_rest(episode: Run) -> None:
    (point,) = record_growth(episode.pk)
    gib = [
        point.before_bytes,
        point.peak_bytes,
        point.retained_bytes or 0,
        point.after_repeat_bytes or 0,
        point.after_other_bytes or 0,
    ]
    assert [value / GIB for value in gib] == [10, 15, 12, 12.5, 13]
    assert point.grown_bytes == 5 * GIB and point.kept_bytes == 3 * GIB
    assert (point.figure, point.prompt_tokens, point.is_clean) == ("rss_bytes", 8192, True)


def test_it_records_a_run_once(episode: Run) -> None:
    record_growth(episode.pk)
    record_growth(episode.pk)
    assert GrowthPoint.objects.count() == 1


def test_it_ends_an_episode_where_the_next_size_begins(run: Run) -> None:
    memory(run, (0, 10), (11, 12), (21, 30))
    ask(run, 0, 10, 3, prompt_tokens=1024)
    ask(run, 1, 20, 3, prompt_tokens=8192)
    small, large = record_growth(run.pk)
    assert small.peak_bytes == 12 * GIB and large.peak_bytes == 30 * GIB
    assert small.retained_bytes == 12 * GIB and small.after_repeat_bytes is None


def test_it_clamps_falling_memory_and_still_tells_what_it_holds(run: Run) -> None:
    """ggml-org/llama.cpp#8678: a falling counter is not memory freed by this prompt."""
    memory(run, (0, 56), (9.9, 8))
    ask(run, 0, 10, 3)
    (point,) = record_growth(run.pk)
    assert point.grown_bytes == 0
    assert point.kept_bytes == -48 * GIB


def test_it_leaves_out_short_repeated_and_concurrent_prompts(run: Run) -> None:
    memory(run, (0, 10))
    ask(run, 0, 10, 3, prompt_tokens=30)
    ask(run, 1, 20, 3, cache="repeat")
    ask(run, 2, 30, 3, client_concurrency=4)
    assert record_growth(run.pk) == []


def test_it_records_nothing_where_memory_was_not_seen(run: Run) -> None:
    ask(run, 0, 10, 3)
    assert record_growth(run.pk) == []
    memory(run, (40, 10))
    assert record_growth(run.pk) == [], "no sample before or during the request"
