"""What only several exchanges together, or a look from outside, can tell."""

from __future__ import annotations

from collections.abc import Sequence

from runs.engine.outcomes import Finding
from runs.engine.records import RequestResult

SERVER_ERRORS = ("http_5xx",)
BROKE_OFF = ("truncated_stream", "no_response", "empty_response")


def judge_run(
    results: Sequence[RequestResult], *, refused_afterwards: bool = False
) -> list[Finding]:
    """Findings of the run as a whole.

    `refused_afterwards`: after an answer broke off, nobody listened at the address any more.
    """
    found = []
    broken = next((r for r in results if r.failure_class in BROKE_OFF), None)
    refused = refused_afterwards or any(r.failure_class == "connect_failed" for r in results)
    if broken is not None and refused:
        found.append(
            Finding(
                "process_crash",
                "An answer broke off and nobody listens at the address any more: "
                "the server process is gone.",
                at_ms=broken.started_offset_ms,
            )
        )
    failed = [r for r in results if r.failure_class in SERVER_ERRORS]
    if len(failed) >= 2:
        found.append(
            Finding(
                "repeated_5xx",
                f"{len(failed)} of {len(results)} requests ended with a server error.",
                at_ms=failed[0].started_offset_ms,
            )
        )
    return found
