"""The shape of an answer: framing, errors inside it, how it ended, what it left out."""

from __future__ import annotations

from runs.engine.judge.context import Case
from runs.engine.judge.errors import PARSE_FAULT, class_of_words
from runs.engine.outcomes import Finding, Outcome
from runs.engine.reading.model import Framing
from runs.engine.records import Ending


def shape_findings(case: Case) -> list[Finding]:
    """Everything about the form of a 2xx answer, except what it says."""
    return [
        *_errors_inside(case),
        *_framing(case),
        *_broken_pieces(case),
        *_ending(case),
    ]


def _errors_inside(case: Case) -> list[Finding]:
    """HTTP 200 with an error in the body. Where words tell nothing, output decides: an error
    after text is an error in the stream all the same."""
    return [
        case.finding(
            _class_of(case, f"{error.code} {error.message}"),
            f"The answer began with HTTP 200 and then said: {error.message[:300]}",
            at_ms=case.at(error.at_ns),
            raw=error.raw,
        )
        for error in case.reading.errors[:5]
    ]


def _class_of(case: Case, text: str) -> str:
    told = class_of_words(text)
    if not told and (case.exchange.spec.body or {}).get("tools") and PARSE_FAULT.search(text):
        return "tool_call_invalid"  # with tools in play it is their parser that failed
    return told or "error_in_stream"


def _framing(case: Case) -> list[Finding]:
    reading, promised = case.reading, case.contract.framing
    got = reading.framing
    if got in (Framing.NONE, Framing.TEXT):
        return _unreadable(case) if got is Framing.TEXT else []
    wanted = promised if case.streamed else Framing.JSON.value
    if got.value == wanted or reading.errors:
        return []
    return [
        case.finding(
            "protocol_mismatch",
            f"Asked for {_in_words(wanted)}, got {_in_words(got.value)}.",
            at_ms=case.timeline.first_byte_ms,
            outcome=None if reading.has_output else Outcome.FAIL,
            raw=reading.text,
        )
    ]


def _in_words(framing: str) -> str:
    return {"sse": "an event stream", "ndjson": "NDJSON", "json": "one JSON body"}[framing]


def _unreadable(case: Case) -> list[Finding]:
    reading = case.reading
    if case.exchange.ending in (Ending.CLOSED_EARLY, Ending.RESET):
        return []  # half a body: its ending says why
    page = reading.text.lstrip()[:200].lower()
    what = "an HTML page" if page.startswith(("<!doctype", "<html", "<head")) else "plain text"
    return [
        case.finding(
            "protocol_mismatch",
            f"HTTP {case.exchange.status} with {what} instead of an answer.",
            at_ms=case.timeline.first_byte_ms,
            outcome=Outcome.FAIL,
            raw=reading.text,
        )
    ]


def _broken_pieces(case: Case) -> list[Finding]:
    reading = case.reading
    if reading.is_oversized:
        return [case.finding("oversized", "One line of the stream passed our limit.")]
    if not reading.faults:
        return []
    fault = reading.faults[0]
    is_last = fault.at_ns == reading.last_byte_ns and not reading.done_seen
    if is_last and case.exchange.ending in (Ending.CLOSED_EARLY, Ending.RESET, Ending.EOF):
        return []  # cut inside a frame: truncated, not malformed
    return [
        case.finding(
            "malformed_stream",
            f"{len(reading.faults)} piece(s) of the stream cannot be read: {fault.why}.",
            at_ms=case.at(fault.at_ns),
            raw=fault.raw,
        )
    ]


def _ending(case: Case) -> list[Finding]:
    exchange, reading = case.exchange, case.reading
    stopped = _stopped(case)
    if stopped is not None:
        return [stopped]
    if reading.errors:
        return []  # the error explains why the rest is missing
    if exchange.ending in (Ending.CLOSED_EARLY, Ending.RESET) and not reading.done_seen:
        return [_truncated(case, f"The connection broke off: {exchange.error}.")]
    if exchange.ending is Ending.PROTOCOL_ERROR:
        return [case.finding("malformed_stream", f"Broken transfer: {exchange.error}.")]
    if case.expectation.kind != "chat":
        return []
    return _incomplete(case)


def _stopped(case: Case) -> Finding | None:
    """One of the clocks, our limit, or a person ended it."""
    exchange, reading = case.exchange, case.reading
    seconds = f"{case.end_ms / 1000:,.1f} s"
    chunks = len(reading.tokens)
    texts = {
        Ending.CANCELLED: ("cancelled", f"Stopped by us after {seconds}."),
        Ending.LIMIT: ("probe_limit", f"Our own limit stopped it: {exchange.error}."),
        Ending.HEADERS_TIMEOUT: ("stalled_prefill", f"No headers within {seconds}."),
        Ending.PREFILL_TIMEOUT: ("stalled_prefill", f"No token within {seconds}."),
        Ending.IDLE_TIMEOUT: (
            "stalled_decode",
            f"Nothing more after {chunks} pieces of text; given up after {seconds}.",
        ),
        Ending.TOTAL_TIMEOUT: ("incomplete_over_limit", f"Not finished within {seconds}."),
    }
    if exchange.ending not in texts:
        return None
    name, text = texts[exchange.ending]
    if exchange.ending is Ending.TOTAL_TIMEOUT and not reading.has_output:
        if reading.body_bytes:
            return case.finding("queue_stall", f"Only keep-alives arrived within {seconds}.")
        name, text = "stalled_prefill", f"Nothing arrived within {seconds}."
    finished = reading.finish_reason is not None or reading.done_seen
    if exchange.ending is Ending.IDLE_TIMEOUT and finished:
        return case.finding(
            "missing_done", "The answer was finished, but the stream was never closed."
        )
    if name == "probe_limit" and reading.is_oversized:
        return None
    return case.finding(name, text)


def _truncated(case: Case, text: str) -> Finding:
    if not case.reading.has_output and not case.reading.body_bytes:
        return case.finding("empty_response", f"HTTP 200, then nothing. {text}")
    return case.finding("truncated_stream", text)


def _incomplete(case: Case) -> list[Finding]:
    """The transfer ended by itself: what a finished answer should have had and has not."""
    reading, contract = case.reading, case.contract
    if reading.framing is Framing.TEXT or reading.faults:
        return []
    finished = reading.finish_reason is not None
    if not reading.has_output and not finished and not reading.done_seen:
        return [case.finding("empty_response", "HTTP 200, and nothing was said.")]
    if not finished and not reading.done_seen and not reading.usages and case.streamed:
        return [_truncated(case, "The stream ended without finish reason, usage or [DONE].")]
    found = []
    if not finished and contract.finish_reason:
        found.append(case.finding("missing_finish_reason", "No finish reason was given."))
    is_sse = reading.framing is Framing.SSE
    if is_sse and contract.done and not reading.done_seen:
        found.append(case.finding("missing_done", "The stream ended without [DONE]."))
    if not reading.usages and contract.usage:
        found.append(case.finding("missing_usage", "No usage was reported though asked for."))
    return found
