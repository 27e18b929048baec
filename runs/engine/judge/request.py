"""Judges one request from its record alone."""

from __future__ import annotations

from runs.engine.judge.content import content_findings, degeneration
from runs.engine.judge.context import Case
from runs.engine.judge.decide import in_time
from runs.engine.judge.expectation import Contract, Expectation
from runs.engine.judge.pooling import pooling_findings
from runs.engine.judge.reach import http_error, unreached
from runs.engine.judge.shape import shape_findings
from runs.engine.judge.tools import tool_findings
from runs.engine.outcomes import Finding
from runs.engine.reading import Reading
from runs.engine.records import Ending, Exchange, Timeline, Tokens

# One arrival for this many characters of answer is a burst, not a stream.
BURST_CHARS = 40


def judge_request(
    exchange: Exchange,
    reading: Reading,
    timeline: Timeline,
    tokens: Tokens,
    expectation: Expectation,
    contract: Contract,
) -> list[Finding]:
    """Everything that keeps this request from a clean pass, in order of time."""
    case = Case(exchange, reading, timeline, tokens, expectation, contract)
    gone = unreached(case) or http_error(case)
    if expectation.cancelled_by_check and exchange.ending is Ending.CANCELLED:
        return []
    if gone is not None:
        return [gone]
    found = shape_findings(case)
    if expectation.kind != "chat":
        return in_time([*found, *([] if found else pooling_findings(case))])
    if not _is_cut(found):
        found += [*content_findings(case), *tool_findings(case), *_prompt(case), *_stream(case)]
    elif found[-1].failure_class in ("stalled_decode", "incomplete_over_limit", "probe_limit"):
        found += degeneration(case)
    return in_time([*found, *_names(case)])


def _is_cut(found: list[Finding]) -> bool:
    """An answer that did not end by itself is not judged by what it says."""
    cut = ("truncated_stream", "stalled", "incomplete", "empty_response", "queue_stall")
    ours = ("cancelled", "probe_limit", "oversized")
    return any(f.failure_class.startswith((*cut, *ours)) for f in found)


def _prompt(case: Case) -> list[Finding]:
    """Whether the whole prompt was read, and read afresh."""
    tokens, known = case.tokens, case.expectation.prompt_tokens
    found = []
    if known and tokens.prompt is not None and tokens.prompt < 0.9 * known:
        found.append(
            case.finding(
                "context_truncated",
                f"The prompt has {known:,} tokens; the server counted {tokens.prompt:,}.",
                at_ms=0.0,
            )
        )
    if case.exchange.spec.cache == "fresh" and known and (tokens.cached or 0) > 0.02 * known:
        found.append(
            case.finding(
                "cache_contaminated",
                f"{tokens.cached:,} tokens of a fresh prompt came from a cache.",
                at_ms=0.0,
            )
        )
    return found


def _stream(case: Case) -> list[Finding]:
    """A stream that arrived all at once cannot be timed."""
    reading, timeline = case.reading, case.timeline
    if not case.streamed or reading.first_event_ns is None or not reading.tokens:
        return []
    chars = sum(token.chars for token in reading.tokens)
    arrivals = len(set(timeline.token_offsets_ms))
    if arrivals == 1 and chars > BURST_CHARS and (case.tokens.completion or 0) > 8:
        return [
            case.finding(
                "buffered_stream",
                f"The whole answer ({chars} characters) arrived in one burst.",
                at_ms=timeline.ttft_ms,
            )
        ]
    return []


def _names(case: Case) -> list[Finding]:
    """The name in the answer against those that are acceptable."""
    names, seen = case.expectation.names, case.reading.models
    wrong = [name for name in seen if names and name not in names]
    if not wrong:
        return []
    return [
        case.finding(
            "identity_mismatch", f"The answer came from {wrong[0]!r}, not {names[0]!r}.", at_ms=0.0
        )
    ]
