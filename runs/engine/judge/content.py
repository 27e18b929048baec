"""What the answer says: marker, JSON, reasoning, repetition, and what usage claims about it."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from typing import Any

import jsonschema

from runs.engine.judge.context import Case
from runs.engine.outcomes import Finding

CHANNEL_MARKERS = re.compile(
    r"<\|[a-z_]{2,40}\|>|<(?:start|end)_of_turn>|\[/?INST\]", re.IGNORECASE
)
JUNK_RUN = re.compile(r"([^\w\s])\1{39,}")  # the same sign 40 times
LONG_REPEAT = re.compile(r"(.{20,400}?)\1{3,}", re.DOTALL)  # a stretch four times in a row
TAIL_CHARS = 6000


def content_findings(case: Case) -> list[Finding]:
    """Everything about a finished chat answer's text and its usage."""
    return [
        *_finish(case),
        *_emptiness(case),
        *_leaks(case),
        *degeneration(case),
        *_expected(case),
        *_usage(case),
    ]


def answer_text(content: str) -> str:
    """The answer without thinking that a template let through."""
    without = re.sub(r"<think>.*?</think>", "", content, flags=re.DOTALL)
    return without.rpartition("</think>")[2].strip()


def _finish(case: Case) -> list[Finding]:
    reading = case.reading
    found = []
    early = next((f for f in reading.finishes if f.after_tokens < len(reading.tokens)), None)
    if early is not None and case.streamed:
        found.append(
            case.finding(
                "contradictory_finish",
                f"It said finish reason {early.reason}, and then went on with the answer.",
                at_ms=case.at(early.at_ns),
            )
        )
    only_thought = bool(reading.reasoning) and not reading.content.strip()
    if reading.finish_reason in ("length", "max_tokens") and not only_thought:
        found.append(
            case.finding(
                "length_cut",
                "The answer was cut by a length limit, though none was sent: "
                "the server has one of its own, or its context is full.",
                at_ms=case.at(reading.finishes[-1].at_ns),
            )
        )
    return found


def _emptiness(case: Case) -> list[Finding]:
    reading = case.reading
    if reading.tool_calls or reading.errors or reading.faults or answer_text(reading.content):
        return []
    if reading.finish_reason is None and not reading.done_seen and not reading.usages:
        return []  # the shape says it already
    if reading.reasoning or "<think>" in reading.content:
        if case.expectation.tool:
            return []  # the missing call is the finding
        return [
            case.finding(
                "reasoning_only", "It only reasoned: the answer itself stayed empty.", at_ms=None
            )
        ]
    if reading.content.strip():
        return []
    if case.expectation.tool and not reading.content:
        return []
    claimed = case.tokens.completion
    more = f", though usage counts {claimed} tokens" if claimed else ""
    return [case.finding("empty_response", f"A finished answer without any text{more}.")]


def _leaks(case: Case) -> list[Finding]:
    content = case.reading.content
    if "</think>" in content or content.lstrip().startswith("<think>"):
        if not answer_text(content):
            return []
        return [case.finding("reasoning_leaked", "The thinking was delivered inside the answer.")]
    return []


def degeneration(case: Case) -> list[Finding]:
    """Repetition and junk, dated to the last token: it was there before anything ended it."""
    at_ms = case.timeline.last_token_ms
    text = case.reading.content[-TAIL_CHARS:]
    if is_repeating(text) and case.expectation.schema is None:
        return [case.finding("repetition", "It says the same thing over and over.", at_ms=at_ms)]
    if CHANNEL_MARKERS.search(text) or JUNK_RUN.search(text) or "\ufffd" * 3 in text:
        return [
            case.finding(
                "garbled_output", "The answer holds control markers or junk.", at_ms=at_ms
            )
        ]
    return []


def is_repeating(text: str) -> bool:
    """A stretch of 20 characters or more, four times in a row or making up most of the text."""
    match = LONG_REPEAT.search(text)
    if match and re.search(r"\w{3}", match[1]):
        return True
    words = text.split()
    if len(words) < 60:
        return False
    grams = Counter(tuple(words[i : i + 6]) for i in range(len(words) - 5))
    return grams.most_common(1)[0][1] * 6 > len(words) * 0.5


def _expected(case: Case) -> list[Finding]:
    expect, reading = case.expectation, case.reading
    if reading.errors or expect.tool or not case.reading.has_output:
        return []
    answer = answer_text(reading.content)
    if expect.schema is not None:
        return _json(case, answer, expect.schema)
    wanted = expect.marker or expect.contains
    if wanted and not _says(answer, wanted):
        return [
            case.finding(
                "marker_mismatch",
                f"Expected {wanted!r}, the answer was {answer[:120]!r}.",
                raw=answer,
            )
        ]
    return []


def _says(answer: str, wanted: str) -> bool:
    """The wanted text stands there as a word of its own, whatever its case and spaces."""
    squeezed = " ".join(answer.split()).casefold()
    pattern = rf"(?<!\w){re.escape(' '.join(wanted.split()).casefold())}(?!\w)"
    return re.search(pattern, squeezed) is not None


def _json(case: Case, answer: str, schema: dict[str, Any]) -> list[Finding]:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError) as error:
        # Caught in legal blanks, it was lost long before a limit ended it.
        is_blank = len("".join(case.reading.content.split())) < len(case.reading.content) / 2
        at_ms = case.timeline.ttft_ms if is_blank else None
        return [case.finding("json_invalid", f"No valid JSON: {error}.", at_ms=at_ms, raw=answer)]
    fault = next(jsonschema.Draft202012Validator(schema).iter_errors(value), None)
    if fault is None:
        return []
    where = "/".join(str(part) for part in fault.absolute_path) or "the top level"
    return [
        case.finding(
            "schema_mismatch", f"JSON, but at {where}: {fault.message[:200]}.", raw=answer
        )
    ]


def _usage(case: Case) -> list[Finding]:
    """Usage that contradicts what arrived."""
    reading, tokens = case.reading, case.tokens
    if tokens.origin != "usage":
        return []
    said = len(reading.content) + len(reading.reasoning)
    problem = ""
    if tokens.completion == 0 and said:
        problem = f"usage counts no tokens for {said} characters"
    elif (
        tokens.reasoning
        and tokens.completion is not None
        and (tokens.reasoning > tokens.completion)
    ):
        problem = f"{tokens.reasoning} reasoning tokens of {tokens.completion} in all"
    elif tokens.cached and tokens.prompt is not None and tokens.cached > tokens.prompt:
        problem = f"{tokens.cached} cached tokens of a prompt of {tokens.prompt}"
    elif any(b < a for a, b in pairwise(_completions(reading.usages))):
        problem = "the running count of tokens fell"
    return [case.finding("usage_inconsistent", f"Usage contradicts itself: {problem}.")] * bool(
        problem
    )


def _completions(usages: list[dict[str, Any]]) -> list[int]:
    counts = [usage.get("completion_tokens") for usage in usages]
    return [count for count in counts if isinstance(count, int)]
