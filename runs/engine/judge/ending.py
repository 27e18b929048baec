"""How an answer ended, and what a finished one should have had and has not."""

from __future__ import annotations

from runs.engine.judge.context import Case
from runs.engine.outcomes import Finding
from runs.engine.reading.model import Framing
from runs.engine.records import Ending

TIMEOUTS = (
    Ending.HEADERS_TIMEOUT,
    Ending.PREFILL_TIMEOUT,
    Ending.IDLE_TIMEOUT,
    Ending.TOTAL_TIMEOUT,
)
CUT = (Ending.CLOSED_EARLY, Ending.RESET)


def ending_findings(case: Case) -> list[Finding]:
    """Stopped by a clock or by us, broken off, or ended by itself with something missing."""
    exchange, reading = case.exchange, case.reading
    if reading.errors and exchange.ending not in (Ending.CANCELLED, Ending.LIMIT):
        return []  # the error explains why the rest is missing
    if exchange.ending in TIMEOUTS:
        return [_timed_out(case)]
    if exchange.ending is Ending.CANCELLED:
        return [case.finding("cancelled", f"Stopped by us after {_seconds(case)}.")]
    if exchange.ending is Ending.LIMIT:
        text = f"Our own limit stopped it: {exchange.error}."
        return [] if reading.is_oversized else [case.finding("probe_limit", text)]
    if exchange.ending is Ending.PROTOCOL_ERROR:
        return [case.finding("malformed_stream", f"Broken transfer: {exchange.error}.")]
    if exchange.ending in CUT and not reading.done_seen:
        return [_broken_off(case, f"The connection broke off: {exchange.error}.")]
    if case.expectation.kind != "chat":
        return []
    return _incomplete(case)


def _seconds(case: Case) -> str:
    return f"{case.end_ms / 1000:,.1f} s"


def _timed_out(case: Case) -> Finding:
    """Which clock it was, and what had been seen until then."""
    reading, within = case.reading, _seconds(case)
    if not reading.has_output:
        return _nothing_in_time(case, within)
    if case.exchange.ending is Ending.TOTAL_TIMEOUT:
        return case.finding("incomplete_over_limit", f"Not finished within {within}.")
    if reading.finish_reason is not None:
        return case.finding(
            "missing_done", "The answer was finished, but the stream was never closed."
        )
    return case.finding(
        "stalled_decode",
        f"Nothing more after {len(reading.tokens)} pieces of text; given up after {within}.",
    )


def _nothing_in_time(case: Case, within: str) -> Finding:
    reading = case.reading
    if _stopped_in_prompt(case):
        return _partial(case)
    if not case.streamed and reading.body_bytes:
        if reading.text.strip():
            return case.finding("incomplete_over_limit", f"Only half a body within {within}.")
        return case.finding("queue_stall", f"Only keep-alives arrived within {within}.")
    if case.exchange.ending is Ending.HEADERS_TIMEOUT:
        return case.finding("stalled_prefill", f"No headers within {within}.")
    alive = " though the server kept the connection alive" if reading.body_bytes else ""
    return case.finding("stalled_prefill", f"No token within {within}{alive}.")


def _stopped_in_prompt(case: Case) -> bool:
    """Progress in the prompt was reported, and it stood still short of the end."""
    seen = [done for done, _ in case.reading.progress]
    if not seen or seen[-1] >= case.reading.progress[-1][1]:
        return False
    return case.exchange.ending not in TIMEOUTS or seen.count(seen[-1]) >= 3


def _partial(case: Case) -> Finding:
    done, total = case.reading.progress[-1]
    return case.finding(
        "partial_prefill", f"The prompt was read as far as {done:,} of {total:,} tokens."
    )


def _broken_off(case: Case, text: str) -> Finding:
    reading = case.reading
    if not reading.has_output and _stopped_in_prompt(case):
        return _partial(case)
    if not reading.events and not reading.cut_piece and reading.framing is not Framing.TEXT:
        return case.finding("empty_response", f"HTTP {case.exchange.status}, then nothing. {text}")
    return case.finding("truncated_stream", text, raw=reading.cut_piece)


def _incomplete(case: Case) -> list[Finding]:
    """The transfer ended by itself."""
    reading, contract = case.reading, case.contract
    if reading.framing is Framing.TEXT or reading.faults:
        return []
    finished, ended = reading.finish_reason is not None, reading.done_seen
    if not reading.has_output and not finished and not ended:
        return [_said_nothing(case)]
    if case.streamed and not finished and not ended and not reading.has_closing_usage:
        text = "The stream ended without finish reason, usage or [DONE]."
        return [_broken_off(case, text)]
    if reading.cut_piece and not ended:
        return [_broken_off(case, "The stream ended in the middle of an event.")]
    found = []
    if not finished and contract.finish_reason:
        found.append(case.finding("missing_finish_reason", "No finish reason was given."))
    if reading.framing is Framing.SSE and contract.done and not ended:
        found.append(case.finding("missing_done", "The stream ended without [DONE]."))
    if reading.framing is Framing.NDJSON and not ended:
        found.append(case.finding("missing_done", "The stream ended without its last line."))
    if not reading.usages and contract.usage:
        found.append(case.finding("missing_usage", "No usage was reported though asked for."))
    return found


def _said_nothing(case: Case) -> Finding:
    reading = case.reading
    if _stopped_in_prompt(case):
        return _partial(case)
    if reading.cut_piece:
        return case.finding(
            "truncated_stream", "The body ended in its first event.", raw=reading.cut_piece
        )
    kept = f", though {reading.comments} keep-alives came" if reading.comments else ""
    text = f"HTTP {case.exchange.status}, and nothing was said{kept}."
    if reading.events and not reading.models:
        text += " Its events name no model: so Ollama looks when it lost an error. See its log."
    return case.finding("empty_response", text)
