"""What only several exchanges together, or a look from outside, can tell."""

from __future__ import annotations

from collections.abc import Sequence

from runs.engine.outcomes import Finding
from runs.engine.records import RequestResult

REPEATED = 2


def judge_run(
    results: Sequence[RequestResult], *, refused_afterwards: bool = False
) -> list[Finding]:
    """Findings of the run as a whole; results in the order in which they were sent.

    `refused_afterwards`: after an answer broke off, nobody listened at the address any more.
    """
    return [*_gone(results, refused_afterwards), *_failing(results)]


def _gone(results: Sequence[RequestResult], refused_afterwards: bool) -> list[Finding]:
    """It had answered or at least taken a request, and then nobody listened any more."""
    refusals = [i for i, r in enumerate(results) if r.failure_class == "connect_failed"]
    if refusals:
        reached = results[: refusals[0]]
    elif refused_afterwards:
        reached = results
    else:
        return []
    if not reached:
        return []
    return [
        Finding(
            "process_crash",
            "It had taken requests, and then nobody listened at the address any more: "
            "the server process is gone.",
            at_ms=reached[-1].started_offset_ms,
        )
    ]


def _failing(results: Sequence[RequestResult]) -> list[Finding]:
    failed = [r for r in results if r.failure_class == "http_5xx"]
    if len(failed) < REPEATED:
        return []
    return [
        Finding(
            "repeated_5xx",
            f"{len(failed)} of {len(results)} requests ended with a server error.",
            at_ms=failed[0].started_offset_ms,
        )
    ]
