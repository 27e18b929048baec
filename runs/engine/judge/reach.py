"""Whether there was an answer at all, and which error an HTTP error is."""

from __future__ import annotations

from runs.engine.judge.context import Case
from runs.engine.judge.errors import class_of_status
from runs.engine.outcomes import Finding, Outcome
from runs.engine.records import Ending

NO_ANSWER = {
    Ending.CONNECT_FAILED: "connect_failed",
    Ending.TLS_FAILED: "tls_failed",
    Ending.NO_RESPONSE: "no_response",
    Ending.RESET: "no_response",
    Ending.PROTOCOL_ERROR: "protocol_mismatch",
    Ending.LIMIT: "oversized",
    Ending.CANCELLED: "cancelled",
}


def unreached(case: Case) -> Finding | None:
    """The finding when no status line came; None when one did."""
    exchange = case.exchange
    if exchange.status is not None:
        return None
    if exchange.ending in NO_ANSWER:
        name = NO_ANSWER[exchange.ending]
        outcome = Outcome.FAIL if name == "protocol_mismatch" else None
        text = exchange.error or "Stopped before an answer came."
        return case.finding(name, text, outcome=outcome)
    waited_s = case.end_ms / 1000
    return case.finding(
        "stalled_prefill",
        f"The connection was accepted, but no answer began within {waited_s:,.1f} s.",
    )


def http_error(case: Case) -> Finding | None:
    """The finding of a status outside 2xx; None for a success."""
    status = case.exchange.status or 0
    if 200 <= status < 300:
        return None
    said = "; ".join(f"{e.code} {e.message}".strip() for e in case.reading.errors)
    said = said or case.reading.text.strip()
    if status < 400:
        return case.finding("http_4xx", f"HTTP {status}: a redirect, which is never followed.")
    kind = case.expectation.kind
    name = class_of_status(status, said, kind=kind, has_tools=case.has_tools)
    short = " ".join(said.split())[:300] or "no text"
    return case.finding(
        name, f"HTTP {status}: {short}", at_ms=case.timeline.headers_ms, raw=case.reading.text
    )
