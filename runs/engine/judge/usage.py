"""Usage against itself and against what arrived."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from runs.engine.judge.context import Case
from runs.engine.outcomes import Finding
from runs.engine.reading import TokenKind

# A token of more characters than this, on average over the answer, is not plausible.
MAX_CHARS_A_TOKEN = 30
SLACK_CHARS = 200
MIN_CHUNKS = 8


def usage_findings(case: Case) -> list[Finding]:
    """One finding with everything that does not fit."""
    if case.tokens.origin != "usage":
        return []
    problems = list(_problems(case))
    if not problems:
        return []
    return [
        case.finding("usage_inconsistent", f"Usage contradicts itself: {'; '.join(problems)}.")
    ]


def _problems(case: Case) -> Iterator[str]:
    reading, tokens = case.reading, case.tokens
    prompt, completion, reasoning = tokens.prompt, tokens.completion, tokens.reasoning
    said = sum(token.chars for token in reading.tokens)
    if prompt == 0:
        yield "it counts no tokens for the prompt"
    if completion is not None:
        yield from _against_text(case, completion, said)
        if reasoning is not None and reasoning > completion:
            yield f"{reasoning} reasoning tokens of {completion} in all"
    if tokens.cached is not None and prompt is not None and tokens.cached > prompt:
        yield f"{tokens.cached} cached tokens of a prompt of {prompt}"
    if any(later < earlier for earlier, later in pairwise(_counts(reading.usages))):
        yield "the running count of tokens fell"
    total = reading.usage.get("total_tokens")
    if prompt is None or completion is None or not isinstance(total, int):
        return
    if total != prompt + completion:
        yield f"a total of {total} for {prompt} and {completion}"


def _against_text(case: Case, completion: int, said: int) -> Iterator[str]:
    texts = [t for t in case.reading.tokens if t.kind is not TokenKind.TOOL]
    if completion == 0 and said:
        yield f"it counts no tokens for {said} characters"
    elif case.streamed and len(texts) >= MIN_CHUNKS and len(texts) > 2 * completion:
        yield f"{completion} tokens for {len(texts)} pieces of text"
    elif said > completion * MAX_CHARS_A_TOKEN + SLACK_CHARS:
        yield f"{completion} tokens for {said} characters"


def _counts(usages: list[dict[str, Any]]) -> list[int]:
    counts = [usage.get("completion_tokens") for usage in usages]
    return [count for count in counts if isinstance(count, int)]
