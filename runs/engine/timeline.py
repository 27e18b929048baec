"""Times and rates of one request. What was not seen, or cannot be trusted, is None, never 0."""

from __future__ import annotations

import math
from itertools import pairwise

from runs.engine.clock import ms_between
from runs.engine.reading import Reading, TokenKind
from runs.engine.records import Exchange, Timeline, Tokens

# A rate needs a stream that streamed: this many arrivals, over this long.
MIN_ARRIVALS = 4
MIN_SPAN_MS = 100.0
# More tokens a chunk than this: chunks are bundles, and the first one is weighed by its text.
BUNDLE = 1.5
TIMING_ARTIFACT = "timing_artifact"


def count_tokens(reading: Reading) -> Tokens:
    """The server's usage; without it the streamed chunks, which are not tokens and say so."""
    usage, details = reading.usage, reading.usage.get("completion_tokens_details")
    cached = reading.usage.get("prompt_tokens_details")
    tokens = Tokens(
        prompt=_count(usage.get("prompt_tokens")),
        completion=_count(usage.get("completion_tokens")),
        reasoning=_count(details.get("reasoning_tokens")) if isinstance(details, dict) else None,
        cached=_count(cached.get("cached_tokens")) if isinstance(cached, dict) else None,
        origin="usage" if usage else "unknown",
    )
    if tokens.cached is None:
        tokens.cached = _count(reading.server.get("cache_n"))
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
    timeline.first_reasoning_ms = since_sent(reading.first_ns(TokenKind.REASONING))
    timeline.first_content_ms = since_sent(reading.first_ns(TokenKind.CONTENT))
    timeline.first_tool_ms = since_sent(reading.first_ns(TokenKind.TOOL))
    timeline.ttft_ms = since_sent(reading.tokens[0].at_ns)
    timeline.last_token_ms = since_sent(reading.tokens[-1].at_ns)
    timeline.token_chunks = len(reading.tokens)
    timeline.token_offsets_ms = [ms_between(sent_ns, token.at_ns) for token in reading.tokens]
    _add_gaps(timeline)
    _add_rates(timeline, reading, tokens, min_span_ms)
    if timeline.ttft_ms and tokens.prompt and not tokens.cached and exchange.spec.cache == "fresh":
        timeline.prompt_tps = tokens.prompt / timeline.ttft_ms * 1000
    return timeline


def _add_gaps(timeline: Timeline) -> None:
    """Gaps between arrivals. Chunks that came in one read share a stamp: one arrival."""
    arrivals = sorted(set(timeline.token_offsets_ms))
    gaps = sorted(later - earlier for earlier, later in pairwise(arrivals))
    if not gaps:
        return
    timeline.itl_mean_ms = sum(gaps) / len(gaps)
    timeline.itl_p99_ms = gaps[math.ceil(0.99 * len(gaps)) - 1]
    timeline.longest_stall_ms = gaps[-1]


def _add_rates(timeline: Timeline, reading: Reading, tokens: Tokens, min_span_ms: float) -> None:
    """Decode rate and TPOT, only of a stream that really streamed."""
    assert timeline.ttft_ms is not None
    assert timeline.last_token_ms is not None
    span_ms = timeline.last_token_ms - timeline.ttft_ms
    arrivals = len(set(timeline.token_offsets_ms))
    completion = tokens.completion or 0
    if arrivals < MIN_ARRIVALS or span_ms < min_span_ms:
        timeline.decode_tps_reason = TIMING_ARTIFACT
        return
    if completion <= 1 or (tokens.reasoning or 0) > completion:
        timeline.decode_tps_reason = "usage_inconsistent"
        return
    first = _tokens_in_first_chunk(reading, completion)
    timeline.first_chunk_tokens = first
    timeline.tpot_ms = span_ms / (completion - first)
    timeline.decode_tps = 1000 / timeline.tpot_ms


def _tokens_in_first_chunk(reading: Reading, completion: int) -> float:
    """1 unless chunks are bundles; then its share of the text (an estimate)."""
    if completion / len(reading.tokens) <= BUNDLE:
        return 1.0
    chars = sum(token.chars for token in reading.tokens)
    share = completion * reading.tokens[0].chars / chars if chars else 1.0
    return min(max(share, 1.0), completion - 1.0)


def _count(value: object) -> int | None:
    """A non-negative whole number, or None: servers send anything."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value >= 0 else None
