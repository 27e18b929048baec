"""Whether a stream streamed, and whether its times can be compared: bursts, loads, slowness."""

from __future__ import annotations

from collections import Counter

from runs.engine.judge.context import Case
from runs.engine.outcomes import Finding
from runs.engine.reading import TokenChunk, TokenKind

# So many tokens, most of them in one arrival or at such a pace, were held back and sent at once.
BURST_TOKENS = 16
BURST_SHARE = 0.8
BURST_MS_A_TOKEN = 0.1
CHARS_A_TOKEN = 4  # where the server counts nothing
LOAD_NS = 1e9  # Ollama's own figure, in ns: a warm model takes some ms


def streaming_findings(case: Case) -> list[Finding]:
    return [*_cold_start(case), *_burst(case), *_slow(case)]


def _burst(case: Case) -> list[Finding]:
    """Tool calls alone are sent whole by most runtimes; text is not."""
    reading, timeline = case.reading, case.timeline
    if not case.streamed or timeline.ttft_ms is None or timeline.last_token_ms is None:
        return []
    texts = [t for t in reading.tokens if t.kind is not TokenKind.TOOL]
    if not texts or reading.tool_calls:
        return []
    chars = sum(token.chars for token in texts)
    count = case.tokens.completion if case.tokens.origin == "usage" else None
    tokens = chars / CHARS_A_TOKEN if count is None else min(count, chars)
    if tokens < BURST_TOKENS:
        return []
    pace = (timeline.last_token_ms - timeline.ttft_ms) / tokens
    if pace > BURST_MS_A_TOKEN and largest_arrival(texts) < BURST_SHARE * chars:
        return []
    text = f"The answer of about {tokens:.0f} tokens arrived in one burst: nothing to measure."
    return [case.finding("buffered_stream", text, at_ms=timeline.ttft_ms)]


def largest_arrival(tokens: list[TokenChunk]) -> int:
    """Characters of the arrival that brought most."""
    chars: Counter[int] = Counter()
    for token in tokens:
        chars[token.at_ns] += token.chars
    return max(chars.values(), default=0)


def _cold_start(case: Case) -> list[Finding]:
    """The model was loaded inside the request that was to be timed."""
    loaded_ns = case.reading.server.get("load_duration", 0.0)
    if loaded_ns < LOAD_NS and not case.reading.loading_lines:
        return []
    took = f" ({loaded_ns / 1e9:,.1f} s)" if loaded_ns else ""
    text = f"The server loaded the model during this request{took}: its times are no sample."
    return [case.finding("cold_start_in_sample", text, at_ms=0.0)]


def _slow(case: Case) -> list[Finding]:
    floor, measured = case.expectation.min_decode_tps, case.timeline.decode_tps
    if floor is None or measured is None or measured >= floor:
        return []
    text = f"{measured:.1f} tokens/s; the role needs {floor:g}."
    return [case.finding("too_slow", text)]
