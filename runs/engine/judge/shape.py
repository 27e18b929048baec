"""The shape of an answer: errors inside it, its framing, pieces that cannot be read."""

from __future__ import annotations

from runs.engine.judge.context import Case
from runs.engine.judge.ending import ending_findings
from runs.engine.judge.errors import class_of_words
from runs.engine.outcomes import Finding, Outcome
from runs.engine.reading.model import Framing
from runs.engine.records import Ending

WORDED = {Framing.SSE: "an event stream", Framing.NDJSON: "NDJSON", Framing.JSON: "one JSON body"}
MAX_ERRORS = 5


def shape_findings(case: Case) -> list[Finding]:
    """Everything about the form of a 2xx answer, except what it says."""
    return [
        *_errors_inside(case),
        *_framing(case),
        *_broken_pieces(case),
        *ending_findings(case),
    ]


def _errors_inside(case: Case) -> list[Finding]:
    """HTTP 200 with an error in the body: [DONE] after it, or text before it, rescues nothing."""
    return [
        case.finding(
            class_of_words(
                f"{error.code} {error.message}",
                kind=case.expectation.kind,
                has_tools=case.has_tools,
            )
            or ("repetition" if error.code == "repetition" else "error_in_stream"),
            f"The answer began with HTTP {case.exchange.status} and then said: "
            f"{error.message[:300]}",
            at_ms=case.at(error.at_ns),
            raw=error.raw,
        )
        for error in case.reading.errors[:MAX_ERRORS]
    ]


def _framing(case: Case) -> list[Finding]:
    """Readable or not: another format than asked for breaks clients of the protocol."""
    reading = case.reading
    if reading.errors or reading.framing is Framing.NONE:
        return []
    if reading.framing is Framing.TEXT:
        return _unreadable(case)
    if case.expectation.kind != "chat":
        return []
    wanted = Framing(case.contract.framing) if case.streamed else Framing.JSON
    is_foreign = reading.framing is Framing.JSON and not reading.is_answer
    if reading.framing is wanted and not is_foreign:
        return []
    if is_foreign:
        text = "JSON came, but no answer of this API."
    else:
        text = f"Asked for {WORDED[wanted]}, got {WORDED[reading.framing]}."
    return [
        case.finding(
            "protocol_mismatch",
            text,
            at_ms=case.timeline.first_byte_ms,
            outcome=None if reading.has_output else Outcome.FAIL,
            raw=reading.text,
        )
    ]


def _unreadable(case: Case) -> list[Finding]:
    """A page or a line of text; or JSON that is broken, or was cut."""
    reading, text = case.reading, case.reading.text.lstrip()
    if not text or case.exchange.ending not in (Ending.COMPLETE, Ending.EOF):
        return []  # how it ended says why
    if text.startswith(("{", "[")):
        is_cut = case.exchange.ending is Ending.EOF
        name = "truncated_stream" if is_cut else "malformed_stream"
        return [case.finding(name, "The JSON body is not complete JSON.", raw=reading.text_tail)]
    is_page = text[:200].lower().startswith(("<!doctype", "<html", "<head", "<?xml"))
    what = "an HTML page" if is_page else "plain text"
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
        return [case.finding("oversized", "One line of the answer passed our limit.")]
    if not reading.faults:
        return []
    fault = reading.faults[0]
    return [
        case.finding(
            "malformed_stream",
            f"{len(reading.faults)} piece(s) of the stream cannot be read: {fault.why}.",
            at_ms=case.at(fault.at_ns),
            raw=fault.raw,
        )
    ]
