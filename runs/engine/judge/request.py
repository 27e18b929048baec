"""Judges one request from its record alone."""

from __future__ import annotations

from runs.engine.judge.content import content_findings
from runs.engine.judge.context import Case
from runs.engine.judge.decide import in_time
from runs.engine.judge.expectation import Contract, Expectation
from runs.engine.judge.pooling import pooling_findings
from runs.engine.judge.reach import http_error, unreached
from runs.engine.judge.shape import shape_findings
from runs.engine.judge.streaming import streaming_findings
from runs.engine.judge.text import degeneration
from runs.engine.judge.tools import tool_findings
from runs.engine.outcomes import Finding
from runs.engine.reading import Reading
from runs.engine.records import Ending, Exchange, Timeline, Tokens

CUT = (
    "truncated_stream",
    "empty_response",
    "partial_prefill",
    "stalled_prefill",
    "stalled_decode",
    "incomplete_over_limit",
    "queue_stall",
    "cancelled",
    "probe_limit",
    "oversized",
)
RAN_ON = ("stalled_decode", "incomplete_over_limit", "probe_limit")


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
    names = {finding.failure_class for finding in found}
    if names.isdisjoint(CUT):  # only an answer that ended by itself is judged by what it says
        found += [
            *content_findings(case),
            *tool_findings(case),
            *_prompt(case),
            *streaming_findings(case),
        ]
    elif not names.isdisjoint(RAN_ON):
        found += degeneration(case, with_reasoning=True)
    return in_time([*found, *_names(case)])


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
