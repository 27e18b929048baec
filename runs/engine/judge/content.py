"""What the answer says: finish reason, emptiness, marker, JSON."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import jsonschema

from runs.engine.judge.context import Case
from runs.engine.judge.text import MARKERS, answer_text, degeneration, leak_findings
from runs.engine.judge.usage import usage_findings
from runs.engine.outcomes import Finding

LENGTH = ("length", "max_tokens", "max_length")
KNOWN_REASONS = (*LENGTH, "stop", "eos", "tool_calls", "function_call", "content_filter")
BLANK_TRAP_CHARS = 200
SHOWN_CHARS = 120
AROUND = " \t\r\n\"'`*_“”„‚‘’«»()[].,;:!?。！"  # quotation, emphasis, punctuation


def content_findings(case: Case) -> list[Finding]:
    """Everything about a finished chat answer's text and its usage."""
    return [
        *_finish(case),
        *_emptiness(case),
        *leak_findings(case),
        *degeneration(case),
        *_expected(case),
        *usage_findings(case),
    ]


# --- finish reasons ---


def _finish(case: Case) -> list[Finding]:
    return [*_contradictions(case), *_cut_by_length(case), *_odd_reason(case)]


def _contradictions(case: Case) -> list[Finding]:
    """It said that it was finished and went on, or gave two different reasons."""
    reading = case.reading
    if not reading.finishes or not case.streamed:
        return []
    first, last = reading.finishes[0], reading.finishes[-1]
    last_token_ns = reading.tokens[-1].at_ns if reading.tokens else 0
    if first.after_tokens < len(reading.tokens):
        text = f"It said finish reason {first.reason}, and then went on with the answer."
    elif first.reason != last.reason:
        text = f"Two finish reasons: {first.reason}, then {last.reason}."
    elif reading.done_ns is not None and last_token_ns > reading.done_ns:
        text = "Text came after [DONE]: clients that stop there never see it."
    else:
        return []
    return [case.finding("contradictory_finish", text, at_ms=case.at(first.at_ns))]


def _cut_by_length(case: Case) -> list[Finding]:
    """Without a limit of ours. Thinking or blanks without end are the cause, not the cut."""
    reading = case.reading
    if reading.finish_reason not in LENGTH or _only_thought(case) or _is_trapped(case):
        return []
    return [
        case.finding(
            "length_cut",
            "The answer was cut by a length limit, though none was sent: "
            "the server has one of its own, or its context is full.",
            at_ms=case.at(reading.finishes[-1].at_ns),
        )
    ]


def _odd_reason(case: Case) -> list[Finding]:
    """A reason that the protocol does not know, or tool calls that nobody received."""
    reading, reason = case.reading, case.reading.finish_reason
    if reason is None or reading.errors:
        return []
    if reason == "repetition":
        return [case.finding("repetition", "The server stopped it for repeating itself.")]
    if reason not in KNOWN_REASONS and case.contract.framing == "sse":
        text = f"{reason!r} is no finish reason of the protocol."
        return [case.finding("finish_reason_mismatch", text)]
    if reason == "tool_calls" and not reading.tool_calls and not case.expectation.tool:
        name = "tool_call_missing" if case.has_tools else "finish_reason_mismatch"
        return [case.finding(name, "The finish reason is tool_calls, but no call came.")]
    return []


# --- emptiness ---


def _only_thought(case: Case) -> bool:
    reading = case.reading
    thought = reading.reasoning.strip() or reading.content.strip()
    return bool(thought) and not answer_text(reading.content) and not reading.tool_calls


def _emptiness(case: Case) -> list[Finding]:
    reading = case.reading
    if reading.tool_calls or reading.errors or reading.faults or answer_text(reading.content):
        return []
    if case.expectation.tool:
        return []  # the missing call is the finding
    if _only_thought(case):
        text = "It only reasoned: the answer itself stayed empty."
        return [case.finding("reasoning_only", text, at_ms=case.timeline.last_token_ms)]
    if case.expectation.schema is not None and reading.content:
        return []  # blanks for JSON are judged as JSON
    claimed = case.tokens.completion
    more = f", though usage counts {claimed} tokens" if claimed else ""
    return [case.finding("empty_response", f"A finished answer without any text{more}.")]


# --- what was expected ---


def _expected(case: Case) -> list[Finding]:
    expect, reading = case.expectation, case.reading
    if reading.errors or expect.tool or not reading.has_output or _only_thought(case):
        return []
    answer = answer_text(reading.content)
    if expect.schema is not None:
        return _json(case, answer, expect.schema)
    if expect.marker and not _opens_or_closes(answer, expect.marker):
        text = _not_the_marker(answer, expect.marker)
    elif expect.contains and not _holds(answer, expect.contains):
        text = f"Expected {expect.contains!r}, the answer was {answer[:SHOWN_CHARS]!r}."
    else:
        return []
    return [case.finding("marker_mismatch", text, raw=answer)]


def _opens_or_closes(answer: str, wanted: str) -> bool:
    """The answer begins or ends with the wanted text, whatever marks and blanks are around it. In
    the middle it proves nothing: a model that only talks about its task may say it there."""
    text, pattern = MARKERS.sub(" ", answer).strip(AROUND), _as_words(wanted)
    return bool(re.match(pattern, text) or re.search(rf"{pattern}$", text))


def _not_the_marker(answer: str, wanted: str) -> str:
    shown = f"{answer[:SHOWN_CHARS]!r}"
    if _holds(answer, wanted):
        return f"Asked for {wanted!r} alone; it came amid other text: {shown}."
    return f"Asked for {wanted!r}, the answer was {shown}."


def _holds(answer: str, wanted: str) -> bool:
    """The wanted text stands there, in upper case or lower."""
    return re.search(_as_words(wanted), answer, re.IGNORECASE) is not None


def _as_words(wanted: str) -> str:
    """A pattern for the text as words of its own, whatever blanks are between. `42` is neither
    in `421` nor in `4.42`, and `OK-7` is not in `OK-7-2`."""
    words = (wanted.strip(AROUND) or wanted).split()
    pattern = r"\s+".join(re.escape(word) for word in words)
    return rf"(?<!\w)(?<!\w[-.,]){pattern}(?!\w|[-.,]\w)"


def _json(case: Case, answer: str, schema: dict[str, Any]) -> list[Finding]:
    try:
        value = json.loads(answer, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return [case.finding("json_invalid", f"No valid JSON: {error}.", raw=answer)]
    fault = next(jsonschema.Draft202012Validator(schema).iter_errors(value), None)
    if fault is None:
        return []
    where = "/".join(str(part) for part in fault.absolute_path) or "the top level"
    text = f"JSON, but at {where}: {fault.message[:200]}."
    return [case.finding("schema_mismatch", text, raw=answer)]


def _is_trapped(case: Case) -> bool:
    """JSON was due, and the model went on with blanks, which are legal there, to the end."""
    content = case.reading.content
    blanks = len(content) - len(content.rstrip())
    return case.expectation.schema is not None and blanks >= BLANK_TRAP_CHARS


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
