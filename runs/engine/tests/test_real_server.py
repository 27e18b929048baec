"""The whole engine against real llama.cpp servers."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from demo.fixtures import running_demo
from runs.engine.outcomes import Outcome
from runs.engine.plan import CheckSpec
from runs.engine.records import RunReport
from runs.engine.runtimes.detect import discover
from runs.engine.suites import FULL, LONG_SIZES, POOLING, RERANKING, SMOKE, Suite
from runs.engine.tests.running import Recorder, run

pytestmark = pytest.mark.real_server


def told(report: RunReport) -> list[tuple[str, str, str]]:
    """What is not clean, for the message of a failed test."""
    left_out = [c for c in report.checks if not c.figures.get("skipped")]
    return [(c.key, c.failure_class, c.explanation) for c in left_out if c.failure_class]


async def carry_out(base_url: str, suite: Suite) -> RunReport:
    return await run(base_url, *suite.checks)


def cheaper(suite: Suite) -> list[CheckSpec]:
    """Every kind of check of the suite, for a machine that reads 150 tokens a second: what fits
    into a slot at half its size, and only one and two clients."""
    smaller = {"long": {2048: 1024}, "repeat": {1024: 512}}
    specs = []
    for spec in suite.checks:
        size = spec.params.get("tokens", 0)
        if size in smaller.get(spec.key, {}):
            spec = CheckSpec(spec.key, {"tokens": smaller[spec.key][size]})
        if spec.params.get("clients", 1) in (1, 2):
            specs.append(spec)
    return specs


async def test_smoke_is_clean_and_proves_the_file_by_its_process(demo_server: str) -> None:
    report = await carry_out(demo_server, SMOKE)
    assert told(report) == []
    assert report.outcome is Outcome.CLEAN_PASS
    assert (report.identity_after.level, report.identity_after.status) == (5, "verified")
    stream = report.requests[-1]
    assert stream.timeline.ttft_ms
    assert stream.timeline.decode_tps
    assert stream.server


async def test_the_full_qualification_is_clean(demo_server: str) -> None:
    report = await run(demo_server, *cheaper(FULL))
    assert told(report) == []
    assert report.outcome is Outcome.CLEAN_PASS
    checks = {c.key: c for c in report.checks}
    assert checks["thinking"].figures == {"skipped": True}
    fitting, *too_long = [c for c in report.checks if c.key == "long"]
    assert fitting.figures["prompt_tokens_reported"] == 1024
    assert all("do not fit into a slot of 4,096" in c.explanation for c in too_long)
    assert len(too_long) == len(LONG_SIZES)
    repeat = checks["repeat"].figures
    assert repeat["repeat_cached_tokens"] > 0.9 * repeat["prompt_tokens"]
    assert repeat["fresh_cached_tokens"] < 0.02 * repeat["prompt_tokens"]
    assert checks["cancel"].figures["released_within_ms"] > 0


async def test_sizes_that_do_not_fit_into_a_slot_are_left_out(demo_server: str) -> None:
    report = await run(demo_server, CheckSpec("long", {"tokens": 131072}))
    assert report.checks[0].figures == {"skipped": True}
    assert "4,096" in report.checks[0].explanation
    assert report.outcome is Outcome.INCONCLUSIVE


async def test_embeddings_are_clean(demo_embedding_server: str) -> None:
    report = await carry_out(demo_embedding_server, POOLING)
    assert told(report) == []
    figures = report.checks[1].figures
    assert (figures["count"], figures["dimension"], figures["normalised"]) == (3, 576, True)
    assert figures["similar_cosine"] > figures["different_cosine"]


async def test_rerank_is_clean(demo_rerank_server: str) -> None:
    report = await carry_out(demo_rerank_server, RERANKING)
    assert told(report) == []
    assert report.checks[1].figures["score_kind"]


@pytest.mark.parametrize("key", ["embeddings", "rerank"])
async def test_pooling_on_a_generating_server_is_a_failure(demo_server: str, key: str) -> None:
    report = await run(demo_server, key)
    assert report.outcome is Outcome.FAIL


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_server_that_dies_in_mid_stream_is_a_crash(number: signal.Signals) -> None:
    with running_demo("--slots", "1", "--context-per-slot", "2048") as base_url:
        process = (await discover(base_url)).process
        assert process
        killed: list[int] = []

        def kill(kind: str, payload: dict[str, Any]) -> None:
            if kind == "request.phase" and payload["phase"] == "decode" and not killed:
                killed.append(process.pid)
                os.kill(process.pid, number)

        checks = ("stream", CheckSpec("concurrency", {"clients": 2}), "chat")
        report = await run(base_url, *checks, observer=Recorder(kill))
    assert killed
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "process_crash")
    assert report.checks[-1].figures == {"not_run": True}
