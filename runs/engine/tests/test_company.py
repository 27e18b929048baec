"""Swap that grew and other clients void a run; what may have been ours never does."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from runs.engine.company import GRACE_MS, SWAP_GROWTH_BYTES, ClientWatch, SwapWatch
from runs.engine.outcomes import Outcome
from runs.engine.records import Ending, RequestResult, Timeline
from runs.engine.session import run_plan
from runs.engine.tests.obedient import MODEL, Obedient, serving
from runs.engine.tests.running import Recorder, plan
from runs.engine.watch import Watch

MIB = 1024**2


def ours(
    start_s: float, end_s: float, *, ending: Ending = Ending.COMPLETE, check: str = "chat"
) -> RequestResult:
    """A request of ours, in seconds of the run."""
    return RequestResult(
        index=0,
        check=check,
        label="",
        streamed=True,
        cache="fresh",
        client_concurrency=1,
        outcome=Outcome.CLEAN_PASS,
        ending=ending.value,
        started_offset_ms=start_s * 1000,
        timeline=Timeline(end_ms=(end_s - start_s) * 1000),
    )


def seen(looks: list[tuple[float, dict[str, int]]], *requests: RequestResult) -> list[str]:
    watch = ClientWatch()
    for t_s, told in looks:
        watch.look({"t_ms": t_s * 1000, **told})
    return [finding.explanation for finding in watch.findings(requests)]


def swapped(*used: int | None) -> SwapWatch:
    watch = SwapWatch()
    for value in used:
        watch.look({"swap_used_bytes": value})
    return watch


@pytest.mark.parametrize(
    "used", [(None, None), (5 * MIB, 5 * MIB + SWAP_GROWTH_BYTES), (900 * MIB, 100 * MIB)]
)
def test_swap_that_is_unknown_or_hardly_grew_voids_nothing(used: tuple[int | None, ...]) -> None:
    assert swapped(*used).findings() == []


def test_swap_that_grew_voids_a_run_even_if_it_shrank_again() -> None:
    (finding,) = swapped(None, 100 * MIB, 600 * MIB, 100 * MIB).findings()
    assert finding.failure_class == "telemetry_gap"
    assert "grew by 500 MiB" in finding.explanation


def test_more_at_work_than_we_had_open_is_another_client() -> None:
    (text,) = seen([(2, {"slots_busy": 1, "requests_waiting": 2})], ours(1, 3), ours(1, 3))
    assert "3 requests were at work or waiting, of which at most 2 were ours" in text


@pytest.mark.parametrize(
    "looks",
    [
        [(2, {"slots_busy": 2})],  # as many as we had open
        [(4, {"slots_busy": 2})],  # just ended, and counted a moment longer
        [(0.5, {"slots_busy": 4})],  # before our first: what an earlier run left behind
        [(2, {})],  # not told
        [(0, {"requests_total": 70}), (0.9, {"requests_total": 77}), (9, {"requests_total": 79})],
    ],
)
def test_what_may_have_been_ours_is_nobody_else(looks: list[tuple[float, Any]]) -> None:
    assert seen(looks, ours(1, 3), ours(1, 3)) == []


def test_requests_one_after_the_other_hide_nobody() -> None:
    one_by_one = [ours(start_s, start_s + 0.9) for start_s in range(1, 6)]
    assert seen([(5.5, {"slots_busy": 2})], *one_by_one) != []
    assert seen([(5.5, {"slots_busy": 1})], *one_by_one) == []


def test_a_request_that_we_broke_off_may_be_at_work_for_ever() -> None:
    late_s = 3 + 2 * GRACE_MS / 1000
    assert seen([(late_s, {"slots_busy": 1})], ours(1, 3, ending=Ending.IDLE_TIMEOUT)) == []
    assert seen([(late_s, {"slots_busy": 1})], ours(1, 3)) != []


def test_more_requests_counted_than_we_sent_are_another_clients() -> None:
    looks = [(0.5, {"requests_total": 70}), (9, {"requests_total": 73})]
    (text,) = seen(looks, ours(1, 3), ours(4, 5))
    assert "counted 3 requests, of which at most 2 were ours" in text
    assert seen(looks, ours(1, 3, check="embeddings")) == [], "each text may count"


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ([{"swap_used_bytes": 0}, {"swap_used_bytes": 2 * SWAP_GROWTH_BYTES}], "Swap in use"),
        ([{"slots_busy": 5}], "Another client"),
    ],
)
async def test_such_a_run_is_degraded_though_every_answer_was_right(
    monkeypatch: pytest.MonkeyPatch, samples: list[dict[str, int]], words: str
) -> None:
    watches: list[Watch] = []

    async def keep(watch: Watch, *_: object) -> None:
        watches.append(watch)

    def tell(kind: str, payload: dict[str, Any]) -> None:
        """In place of the samplers, which would tell of the machine that runs the tests."""
        for sample in samples if kind == "request.finished" else []:
            part = "telemetry" if "slots_busy" in sample else "memory"
            watches[0].emit(f"{part}.sample", sample)

    monkeypatch.setattr(Watch, "start", keep)
    with serving(Obedient()) as base_url:
        asked = plan(base_url, "marker", model=MODEL, runtime="openai")
        report = await run_plan(asked, Recorder(tell), threading.Event())
    assert report.requests[0].outcome is Outcome.CLEAN_PASS
    assert (report.outcome, report.failure_class) == (Outcome.DEGRADED, "telemetry_gap")
    assert words in report.explanation
