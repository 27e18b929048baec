"""What is wrong with a text itself: thinking let through, repetition, markers and junk."""

from __future__ import annotations

import re
from collections import Counter

from runs.engine.judge.context import Case
from runs.engine.outcomes import Finding

THINK = r"think|thinking|thought|reasoning|seed:think"
THOUGHT = re.compile(rf"<({THINK})>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
THOUGHT_END = re.compile(rf"</(?:{THINK})>|\[/THINK\]", re.IGNORECASE)
THOUGHT_START = re.compile(rf"\s*(?:<(?:{THINK})>|\[THINK\])", re.IGNORECASE)
MARKERS = re.compile(
    r"<\|/?[a-z_▁]{2,40}\|>|<[|｜][\w▁]{2,40}[|｜]>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>"
    r"|</s>|<(?:pad|unk|bos|eos)>|<unused\d+>|<0x[0-9A-F]{2}>|[\x00-\x08\x0b\x0c\x0e-\x1f]"
    r"|\ufffd{3,}",
    re.IGNORECASE,
)
# The same sign 40 times, whatever blanks between; rules of Markdown are no junk.
JUNK_RUN = re.compile(r"([^\w\s\-=_*#~+|─━])(?:\s*\1){39,}")
LONG_REPEAT = re.compile(r"(.{20,400}?)\1{3,}", re.DOTALL)  # a stretch four times in a row
WINDOW_CHARS = 6000
GRAM = 6
MIN_WORDS = 60


def answer_text(content: str) -> str:
    """The answer without thinking that a template let through, closed or not."""
    rest = THOUGHT.sub("", content)
    return THOUGHT_END.split(rest)[-1].strip()


def has_thought(content: str) -> bool:
    """Thinking stands in the answer: it opens with it, or an end of it comes later."""
    return bool(THOUGHT_START.match(content) or THOUGHT_END.search(content))


def leak_findings(case: Case) -> list[Finding]:
    content = case.reading.content
    if not has_thought(content) or not answer_text(content):
        return []
    return [case.finding("reasoning_leaked", "The thinking was delivered inside the answer.")]


def degeneration(case: Case, *, with_reasoning: bool = False) -> list[Finding]:
    """Repetition or junk, dated to where it starts: it was there before anything ended it.

    `with_reasoning`: an answer that never came is judged by its thoughts.
    """
    content = case.reading.content
    start = max(len(content) - WINDOW_CHARS, 0)
    text = content[start:]
    if case.expectation.schema is None:
        position = repeat_start(text)
        if position is not None:
            at_ms = case.at_char(start + position)
            text = "It says the same thing over and over."
            return [case.finding("repetition", text, at_ms=at_ms)]
    thoughts = case.reading.reasoning[-WINDOW_CHARS:]
    if with_reasoning and not content and repeat_start(thoughts) is not None:
        text = "It thinks the same thing over and over."
        return [case.finding("repetition", text, at_ms=case.timeline.last_token_ms)]
    junk = MARKERS.search(text) or JUNK_RUN.search(text)
    if junk is None:
        return []
    shown = text[max(junk.start() - 200, 0) : junk.end() + 200]
    return [
        case.finding(
            "garbled_output",
            "The answer holds control markers or junk.",
            at_ms=case.at_char(start + junk.start()),
            raw=shown,
        )
    ]


def repeat_start(text: str) -> int | None:
    """Where a stretch begins that comes four times in a row or makes up most of the text."""
    match = LONG_REPEAT.search(text)
    if match and re.search(r"\w{2}", match[1]):
        return match.end(1)
    words = text.split()
    if len(words) < MIN_WORDS:
        return None
    grams = Counter(tuple(words[i : i + GRAM]) for i in range(len(words) - GRAM + 1))
    most, times = grams.most_common(1)[0]
    return text.find(most[0]) if times * GRAM > len(words) * 0.5 else None
