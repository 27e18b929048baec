"""Every failure class has words for people, and something that produces it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runs.engine.failure_classes import FAILURE_CLASSES, REPORT_FAILURES
from runs.engine.guards import ProcessWatch
from runs.engine.judge import (
    Contract,
    Expectation,
    decide,
    decide_run,
    judge_request,
    judge_run,
    to_result,
)
from runs.engine.outcomes import Finding, Outcome
from runs.engine.reading import BodyReader
from runs.engine.records import Ending, Exchange, RequestResult, RequestSpec
from runs.engine.tests.replay import load_cases
from runs.engine.timeline import build_timeline, count_tokens

MS = 1_000_000
SENT_NS = 1_000 * MS
CASES = Path(__file__).parent / "cases"
# Set where a worker that stopped beating is found, not by the engine (see runs/claims.py).
OUTSIDE_THE_ENGINE = {"interrupted"}

GROUPS = {
    "reach": "connect_failed tls_failed auth_failed model_not_found http_4xx http_5xx "
    "repeated_5xx rate_limited queue_full gateway_timeout loading init_failed no_response",
    "shape": "empty_response protocol_mismatch malformed_stream error_in_stream truncated_stream "
    "missing_done missing_finish_reason finish_reason_mismatch contradictory_finish missing_usage "
    "usage_inconsistent encoding_ignored oversized",
    "time": "stalled_prefill stalled_decode incomplete_over_limit warm_retry_timeout too_slow "
    "buffered_stream cold_start_in_sample",
    "limit": "length_cut context_rejected context_truncated partial_prefill cache_contaminated",
    "content": "marker_mismatch reasoning_only reasoning_leaked json_invalid schema_mismatch "
    "tool_call_missing tool_call_invalid tool_call_nonconformant tool_call_leaked repetition "
    "garbled_output pooling_invalid",
    "identity": "identity_mismatch identity_unverified",
    "server": "memory_guard process_crash process_restarted stale_slot queue_stall "
    "parallel_regression",
    "ours": "cancelled interrupted probe_limit telemetry_gap",
}
DEGRADED = (
    "buffered_stream",
    "cold_start_in_sample",
    "contradictory_finish",
    "encoding_ignored",
    "finish_reason_mismatch",
    "garbled_output",
    "identity_unverified",
    "missing_done",
    "missing_finish_reason",
    "missing_usage",
    "protocol_mismatch",
    "rate_limited",
    "reasoning_leaked",
    "telemetry_gap",
    "tool_call_nonconformant",
    "usage_inconsistent",
)
INCONCLUSIVE = ("cancelled", "interrupted", "probe_limit", "loading")


# --- one request, made by hand ---


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice], **more}).encode() + b"\n\n"


USAGE = chunk({}, "stop", usage={"prompt_tokens": 100, "completion_tokens": 5})
DONE = b"data: [DONE]\n\n"
GOOD = (chunk({"content": "one two"}), chunk({"content": " three"}), USAGE, DONE)


def result(
    *blocks: bytes,
    ending: Ending = Ending.COMPLETE,
    status: int | None = 200,
    expect: Expectation | None = None,
    error: str = "",
    step_ms: int = 50,
    started_offset_ms: float = 0.0,
    **spec: Any,
) -> RequestResult:
    """A streamed chat request whose answer came in these blocks, one each `step_ms`."""
    sent = RequestSpec("POST", "/chat/completions", {"stream": True}, True, "chat", "x")
    exchange = Exchange(replace(sent, **spec), started_ns=SENT_NS, sent_ns=SENT_NS)
    exchange.status, exchange.ending, exchange.error = status, ending, error
    exchange.headers_ns = None if status is None else SENT_NS
    reader = BodyReader(content_type="text/event-stream", line_bytes=10_000)
    at_ns = SENT_NS
    for block in blocks:
        at_ns += step_ms * MS
        reader.feed([(at_ns, block)])
    exchange.ended_ns = at_ns
    reading = reader.close()
    tokens = count_tokens(reading)
    timeline = build_timeline(exchange, reading, tokens)
    expect = expect or Expectation()
    findings = judge_request(exchange, reading, timeline, tokens, expect, Contract())
    return to_result(
        0,
        exchange,
        reading,
        timeline,
        tokens,
        expect,
        findings,
        asked="the same question",
        started_offset_ms=started_offset_ms,
    )


def of_run(*results: RequestResult) -> str:
    """The class of a run in which these were the requests."""
    return decide_run(results, judge_run(results))[1]


# --- what the hard cases do not already produce ---


def too_slow() -> str:
    words = [chunk({"content": f"word{n} "}) for n in range(20)]
    counted = chunk({}, "stop", usage={"prompt_tokens": 9, "completion_tokens": 20})
    return result(
        *words, counted, DONE, step_ms=400, expect=Expectation(min_decode_tps=5.0)
    ).failure_class


def partial_prefill() -> str:
    stuck = {"total": 100_000, "cache": 0, "processed": 62_000, "time_ms": 90_000}
    progress = chunk({}, prompt_progress=stuck)
    return result(*[progress] * 5, ending=Ending.PREFILL_TIMEOUT).failure_class


def cache_contaminated() -> str:
    cached = {"prompt_tokens": 100, "completion_tokens": 5}
    counted = chunk({}, "stop", usage={**cached, "prompt_tokens_details": {"cached_tokens": 96}})
    return result(
        *GOOD[:2], counted, DONE, expect=Expectation(prompt_tokens=100), cache="fresh"
    ).failure_class


def init_failed() -> str:
    said = b'{"error":{"message":"failed to load model: shape mismatch in blk.0","code":500}}'
    return result(said, status=500).failure_class


def oversized() -> str:
    line = b"data: " + b"x" * 20_000
    return result(line, ending=Ending.LIMIT, error="one line passed our limit").failure_class


def warm_retry_timeout() -> str:
    again = result(
        ending=Ending.PREFILL_TIMEOUT, cache="repeat", status=200, started_offset_ms=500.0
    )
    return of_run(result(*GOOD), again)


def parallel_regression() -> str:
    alone = result(*GOOD, client_concurrency=1)
    group = [
        result(*GOOD, client_concurrency=2, started_offset_ms=900.0),
        result(ending=Ending.PREFILL_TIMEOUT, client_concurrency=2, started_offset_ms=900.0),
    ]
    return of_run(alone, *group)


def process_restarted() -> str:
    watch = ProcessWatch()
    watch.look({"pid": 7, "process_started_s": 100.0})
    watch.look({"pid": 8, "process_started_s": 160.0})
    return decide(watch.findings())[1]


SCENARIOS: dict[str, Callable[[], str]] = {
    "too_slow": too_slow,
    "partial_prefill": partial_prefill,
    "cache_contaminated": cache_contaminated,
    "init_failed": init_failed,
    "oversized": oversized,
    "warm_retry_timeout": warm_retry_timeout,
    "parallel_regression": parallel_regression,
    "process_restarted": process_restarted,
    "tls_failed": lambda: result(ending=Ending.TLS_FAILED, status=None).failure_class,
    "cancelled": lambda: result(GOOD[0], ending=Ending.CANCELLED).failure_class,
    "probe_limit": lambda: result(GOOD[0], ending=Ending.LIMIT).failure_class,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_something_produces_it(name: str) -> None:
    assert SCENARIOS[name]() == name


def test_every_class_is_produced_by_a_scenario_or_a_hard_case() -> None:
    cases = [c for file in CASES.glob("*.jsonl") for c in load_cases(file.read_text())]
    by_cases = {case["expected"]["failure_class"] for case in cases} - {None}
    assert by_cases | set(SCENARIOS) | OUTSIDE_THE_ENGINE == set(FAILURE_CLASSES)


def test_a_good_answer_produces_none() -> None:
    found = result(*GOOD)
    assert (found.outcome, found.failure_class, found.findings) == (Outcome.CLEAN_PASS, "", [])
    assert of_run(found, found) == ""


# --- the table ---


def test_the_table_holds_exactly_the_agreed_classes() -> None:
    groups: dict[str, set[str]] = {}
    for row in FAILURE_CLASSES.values():
        groups.setdefault(row.group, set()).add(row.key)
    assert groups == {group: set(names.split()) for group, names in GROUPS.items()}


def test_each_class_has_the_agreed_outcome() -> None:
    for key, row in FAILURE_CLASSES.items():
        wanted = (
            Outcome.DEGRADED
            if key in DEGRADED
            else Outcome.INCONCLUSIVE
            if key in INCONCLUSIVE
            else Outcome.FAIL
        )
        assert row.outcome is wanted, key


def test_each_class_tells_people_what_it_is_and_what_to_do() -> None:
    for row in FAILURE_CLASSES.values():
        for text in (row.title, row.meaning, row.causes, row.next_step):
            assert 0 < len(text) < 200, row.key
        assert row.next_step.endswith("."), row.key
    titles = [row.title for row in FAILURE_CLASSES.values()]
    assert len(set(titles)) == len(titles)


def test_the_eight_failures_of_the_report_have_a_class() -> None:
    assert len(REPORT_FAILURES) == 8
    assert set(REPORT_FAILURES.values()) <= set(FAILURE_CLASSES)


# --- deciding ---


def test_the_worst_decides_and_its_first_cause_names_it() -> None:
    late = Finding("marker_mismatch", "late", at_ms=90.0)
    early = Finding("malformed_stream", "early", at_ms=10.0)
    mild = Finding("missing_done", "mild", at_ms=1.0)
    assert decide([late, mild, early]) == (Outcome.FAIL, "malformed_stream", "early")
    assert decide([mild]) == (Outcome.DEGRADED, "missing_done", "mild")


def test_what_stopped_us_is_worse_than_degraded_and_better_than_a_fail() -> None:
    ours = Finding("cancelled", "ours", at_ms=5.0)
    mild = Finding("missing_done", "mild", at_ms=1.0)
    bad = Finding("json_invalid", "bad", at_ms=9.0)
    assert decide([mild, ours])[0] is Outcome.INCONCLUSIVE
    assert decide([mild, ours, bad]) == (Outcome.FAIL, "json_invalid", "bad")


def test_a_finding_may_be_worse_than_its_class() -> None:
    unreadable = Finding("protocol_mismatch", "a page", outcome=Outcome.FAIL)
    assert decide([unreadable])[0] is Outcome.FAIL


def test_excerpts_are_bounded_and_hold_no_keys() -> None:
    said = b'{"error":{"message":"bad key sk-abcdefgh12345678 ' + b"x" * 9000 + b'"}}'
    found = result(said, status=401)
    assert found.failure_class == "auth_failed"
    assert len(found.excerpt) < 2100
    everything = json.dumps(found.as_dict())
    assert "sk-abcdefgh" not in everything


def test_half_the_throughput_with_more_clients_is_a_regression() -> None:
    alone = [result(*GOOD, step_ms=50, client_concurrency=1)]
    slower = [
        result(*GOOD, step_ms=300, client_concurrency=2, started_offset_ms=500.0) for _ in "ab"
    ]
    assert of_run(*alone, *slower) == "parallel_regression"


def test_waiting_in_a_queue_is_no_regression() -> None:
    """One slot, two clients: the second waits, and together they are as fast as one."""
    alone = result(*GOOD, step_ms=50, client_concurrency=1)
    queued = [
        result(*GOOD, step_ms=ms, client_concurrency=2, started_offset_ms=500.0)
        for ms in (50, 100)
    ]
    assert of_run(alone, *queued) == ""
