"""Times and rates of one request. What was not seen, or cannot be trusted, is None, never 0."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from runs.engine.clock import ms_between
from runs.engine.reading import Reading, TokenKind
from runs.engine.reading.figures import is_number
from runs.engine.records import Exchange, Timeline, Tokens

# A rate needs a stream that streamed: so many tokens in so many arrivals, over this long, and none
# of them with most of the text.
MIN_TOKENS = 16
MIN_ARRIVALS = 4
MIN_SPAN_MS = 250.0
MAX_SHARE = 0.5
# More tokens a chunk than this: chunks are bundles, and the first one is weighed by its text.
BUNDLE = 1.5
TIMING_ARTIFACT = "timing_artifact"


def count_tokens(reading: Reading) -> Tokens:
    """The server's usage; without it the streamed chunks, which are not tokens and say so."""
    usage, server = reading.usage, reading.server
    of_prompt, of_answer = _details(usage, "prompt"), _details(usage, "completion")
    tokens = Tokens(
        prompt=_first(usage.get("prompt_tokens"), usage.get("input_tokens")),
        completion=_first(usage.get("completion_tokens"), usage.get("output_tokens")),
        reasoning=_first(of_answer.get("reasoning_tokens"), usage.get("reasoning_tokens")),
        cached=_first(
            of_prompt.get("cached_tokens"), usage.get("cached_tokens"), server.get("cache_n")
        ),
    )
    if tokens.completion is not None or tokens.prompt is not None:
        tokens.origin = "usage"
    elif "predicted_n" in server:  # llama.cpp: `prompt_n` is without what was cached
        tokens.prompt = _first(server.get("prompt_n", 0.0) + server.get("cache_n", 0.0))
        tokens.completion, tokens.origin = _first(server["predicted_n"]), "timings"
    if tokens.completion is None and reading.tokens:
        tokens.completion, tokens.origin = len(reading.tokens), "chunks"
    return tokens


def build_timeline(
    exchange: Exchange, reading: Reading, tokens: Tokens, *, min_span_ms: float = MIN_SPAN_MS
) -> Timeline:
    """All times in ms from `sent_ns`; connecting is its own figure, from the start to connected.

    TTFT is the first delta with text: reasoning, content or tool call. An unstreamed answer has
    none of the token times.
    """
    sent_ns = exchange.sent_ns

    def since_sent(at_ns: int | None) -> float | None:
        return None if at_ns is None else ms_between(sent_ns, at_ns)

    timeline = Timeline(
        headers_ms=since_sent(exchange.headers_ns),
        first_byte_ms=since_sent(reading.first_byte_ns),
        first_event_ms=since_sent(reading.first_event_ns),
        end_ms=since_sent(exchange.ended_ns),
    )
    if exchange.connected_ns is not None:
        timeline.connect_ms = ms_between(exchange.started_ns, exchange.connected_ns)
    if reading.first_event_ns is None or not reading.tokens:
        return timeline
    first_ns, arrivals = _first_by_kind(reading), _chars_by_arrival(reading)
    timeline.first_reasoning_ms = since_sent(first_ns.get(TokenKind.REASONING))
    timeline.first_content_ms = since_sent(first_ns.get(TokenKind.CONTENT))
    timeline.first_tool_ms = since_sent(first_ns.get(TokenKind.TOOL))
    timeline.ttft_ms = since_sent(reading.tokens[0].at_ns)
    timeline.last_token_ms = since_sent(reading.tokens[-1].at_ns)
    timeline.token_chunks = len(reading.tokens)
    timeline.token_offsets_ms = [(at_ns - sent_ns) / 1e6 for at_ns, _, _ in reading.tokens]
    timeline.coalesced_chunks = len(reading.tokens) - len(arrivals)
    _add_gaps(timeline, sorted(arrivals))
    _add_rates(timeline, reading, tokens, arrivals, min_span_ms)
    if timeline.ttft_ms and tokens.prompt and not tokens.cached and exchange.spec.cache == "fresh":
        timeline.prompt_tps = tokens.prompt / timeline.ttft_ms * 1000
    return timeline


def _first_by_kind(reading: Reading) -> dict[TokenKind, int]:
    """When the first token chunk of each kind came, ns."""
    return {kind: at_ns for at_ns, kind, _ in reversed(reading.tokens)}


def _chars_by_arrival(reading: Reading) -> dict[int, int]:
    """Chunks that came in one read share a stamp, ns: they are one arrival."""
    arrivals: dict[int, int] = {}
    for at_ns, _, chars in reading.tokens:
        arrivals[at_ns] = arrivals.get(at_ns, 0) + chars
    return arrivals


def _add_gaps(timeline: Timeline, arrivals_ns: list[int]) -> None:
    """Gaps between arrivals; gaps of 0 within one would only flatter the figures."""
    gaps = sorted(later - earlier for earlier, later in pairwise(arrivals_ns))
    if not gaps:
        return
    timeline.itl_mean_ms = sum(gaps) / len(gaps) / 1e6
    timeline.itl_p99_ms = gaps[math.ceil(0.99 * len(gaps)) - 1] / 1e6
    timeline.longest_stall_ms = gaps[-1] / 1e6


def _add_rates(
    timeline: Timeline,
    reading: Reading,
    tokens: Tokens,
    arrivals: dict[int, int],
    min_span_ms: float,
) -> None:
    """Decode rate and TPOT, only of a stream that really streamed and was really counted."""
    assert timeline.ttft_ms is not None
    assert timeline.last_token_ms is not None
    span_ms = timeline.last_token_ms - timeline.ttft_ms
    completion = tokens.completion or 0
    if span_ms < min_span_ms or not _has_streamed(arrivals, completion):
        timeline.decode_tps_reason = TIMING_ARTIFACT
        return
    if (tokens.reasoning or 0) > completion:
        timeline.decode_tps_reason = "usage_inconsistent"
        return
    if tokens.origin == "chunks":  # chunks are no tokens: their pace is no rate
        timeline.decode_tps_reason = "tokens_not_counted"
        return
    first = _tokens_in_first_arrival(reading, completion)
    timeline.first_chunk_tokens = first
    timeline.tpot_ms = span_ms / (completion - first)
    timeline.decode_tps = 1000 / timeline.tpot_ms


def _has_streamed(arrivals: dict[int, int], completion: int) -> bool:
    """Enough tokens in enough arrivals, and no arrival that brought most of the text."""
    is_even = max(arrivals.values()) <= MAX_SHARE * sum(arrivals.values())
    return len(arrivals) >= MIN_ARRIVALS and completion >= MIN_TOKENS and is_even


def _tokens_in_first_arrival(reading: Reading, completion: int) -> float:
    """For its first chunk what usage said with it, else 1; 1 for each that came in the same read.
    Where chunks are bundles, their share of the text."""
    first_ns = reading.tokens[0].at_ns
    first = [token for token in reading.tokens if token.at_ns == first_ns]
    if reading.first_chunk_tokens is not None:
        tokens = float(reading.first_chunk_tokens + len(first) - 1)
    elif completion / len(reading.tokens) <= BUNDLE:
        tokens = float(len(first))
    else:
        chars = sum(token.chars for token in reading.tokens)
        tokens = completion * sum(token.chars for token in first) / chars if chars else 1.0
    return min(max(tokens, 1.0), completion - 1.0)


def _details(usage: dict[str, Any], of: str) -> dict[str, Any]:
    details = usage.get(f"{of}_tokens_details")
    return details if isinstance(details, dict) else {}


def _first(*values: object) -> int | None:
    """The first that is a count: servers send anything, and null is unknown, not 0."""
    return next((int(v) for v in values if is_number(v) and v >= 0), None)
