"""What only several exchanges together can tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from runs.engine.judge.decide import Verdict, decide, outcome_of
from runs.engine.judge.scaling import scaling_findings
from runs.engine.outcomes import SEVERITY, Finding, Outcome
from runs.engine.records import Ending, RequestResult

NOT_REACHED = (Ending.CONNECT_FAILED.value, Ending.TLS_FAILED.value)
TIMED_OUT = (
    "stalled_prefill",
    "partial_prefill",
    "stalled_decode",
    "incomplete_over_limit",
    "queue_stall",
)
REPEATED = 2
# Causes of what single requests showed; the others stand beside them.
EXPLAINING = (
    "memory_guard",
    "process_crash",
    "repeated_5xx",
    "init_failed",
    "warm_retry_timeout",
    "parallel_regression",
    "cancelled",
)
# After a cancel the next request waited behind work that should have stopped.
QUEUED_RATIO = 20.0
QUEUED_MS = 2000.0


def judge_run(
    results: Sequence[RequestResult], *, refused_afterwards: bool = False
) -> list[Finding]:
    """Findings of the run as a whole, results in the order in which they were sent.

    `refused_afterwards`: after the last request nobody listened at the address any more.
    """
    return [
        *_gone(results, refused_afterwards),
        *_never_ready(results),
        *_failing(results),
        *_behind_a_cancel(results),
        *_warm_timeouts(results),
        *_other_models(results),
        *scaling_findings(results),
    ]


def decide_run(results: Sequence[RequestResult], findings: Sequence[Finding]) -> Verdict:
    """The worst decides, the first cause in time names it. What was seen of the whole explains
    the requests of its moment, so it comes before them. Without a moment, a cause comes first and
    everything else last. A server that was loading and then answered was only waited for."""
    parts: list[tuple[float, int, Outcome, Verdict]] = []
    for position, result in enumerate(results):
        if result.failure_class == "loading" and _answers(results[position + 1 :]):
            continue
        verdict = (result.outcome, result.failure_class, result.explanation)
        parts.append((result.started_offset_ms, 1, result.outcome, verdict))
    for finding in findings:
        parts.append((_moment(finding), 0, outcome_of(finding), decide([finding])))
    if not parts:
        return decide([])
    worst = max((part[2] for part in parts), key=SEVERITY.__getitem__)
    return min((p for p in parts if p[2] is worst), key=lambda part: part[:2])[3]


def _moment(finding: Finding) -> float:
    if finding.at_ms is not None:
        return finding.at_ms
    return -math.inf if finding.failure_class in EXPLAINING else math.inf


def _answers(results: Sequence[RequestResult]) -> bool:
    return any(200 <= (r.http_status or 0) < 300 for r in results)


def _gone(results: Sequence[RequestResult], refused_afterwards: bool) -> list[Finding]:
    """It had taken requests, and then nobody listened any more; or a gateway lost what was
    behind it, even if it started it again."""
    refused = next((i for i, r in enumerate(results) if r.ending in NOT_REACHED), None)
    reached = results[:refused] if refused is not None else results
    if reached and (refused is not None or refused_afterwards):
        last = reached[-1]
        how = "We hung up" if last.ending == Ending.CANCELLED else "It had taken requests"
        text = f"{how}, and then nobody listened at the address: the server process is gone."
        return [Finding("process_crash", text, at_ms=last.started_offset_ms)]
    lost = [r for r in results if r.http_status == 502]
    if len(lost) >= REPEATED and len(lost) < len(results):
        text = f"The gateway lost the server behind it {len(lost)} times: {lost[0].explanation}"
        return [Finding("process_crash", text, at_ms=lost[0].started_offset_ms)]
    return []


def _never_ready(results: Sequence[RequestResult]) -> list[Finding]:
    """Still loading whenever it was asked, to the last."""
    asked = [r for r in results if r.failure_class == "loading"]
    if len(asked) < REPEATED or len(asked) < len(results):
        return []
    text = f"It was still loading each of the {len(asked)} times it was asked."
    return [Finding("init_failed", text, at_ms=asked[0].started_offset_ms)]


def _failing(results: Sequence[RequestResult]) -> list[Finding]:
    names = ("http_5xx", "process_crash")
    failed = [r for r in results if (r.http_status or 0) >= 500 and r.failure_class in names]
    if len(failed) < REPEATED:
        return []
    text = f"{len(failed)} of {len(results)} requests ended with a server error."
    return [Finding("repeated_5xx", text, at_ms=failed[0].started_offset_ms)]


def _behind_a_cancel(results: Sequence[RequestResult]) -> list[Finding]:
    """Where no slots are reported, the next request's wait tells that one stayed busy."""
    for cancelled, following in pairwise(results):
        before, after = cancelled.timeline.ttft_ms, following.timeline.ttft_ms
        if cancelled.ending != Ending.CANCELLED or before is None or after is None:
            continue
        if after > max(QUEUED_MS, QUEUED_RATIO * before):
            text = (
                f"After we hung up, the next request waited {after / 1000:,.1f} s for its first "
                f"token; the one that we cancelled had waited {before / 1000:,.2f} s."
            )
            return [Finding("stale_slot", text, at_ms=cancelled.started_offset_ms)]
    return []


def _warm_timeouts(results: Sequence[RequestResult]) -> list[Finding]:
    """The same request that was answered before timed out when it was repeated."""
    for position, result in enumerate(results):
        if result.cache != "repeat" or result.failure_class not in TIMED_OUT:
            continue
        if any(r.asked == result.asked and r.finish_reason for r in results[:position]):
            text = f"Answered once; the same request again timed out ({result.explanation})"
            return [Finding("warm_retry_timeout", text, at_ms=result.started_offset_ms)]
    return []


def _other_models(results: Sequence[RequestResult]) -> list[Finding]:
    """The name in the answers changed. Whole answers and streams may name it differently."""
    for streamed in (False, True):
        named = [r for r in results if r.streamed is streamed and r.model_reported]
        other = next((r for r in named if r.model_reported != named[0].model_reported), None)
        if other is not None:
            text = (
                f"Answers came from {named[0].model_reported!r} first and from "
                f"{other.model_reported!r} later: the model was exchanged during the run."
            )
            return [Finding("identity_mismatch", text, at_ms=other.started_offset_ms)]
    return []
