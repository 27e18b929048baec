"""Long cases are played faster, and their moments stretched back before they are judged.

So the judge, its thresholds and the expected times all speak of the case's own milliseconds.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from runs.engine.plan import Deadlines
from runs.engine.reading.model import TokenChunk

LONGEST_MS = 700.0
SMALLEST = 0.02  # timers are too coarse for less
SHORTEST_DEADLINE_S = 0.3
DEADLINES_MS = {
    "prefill_deadline_ms": 120_000,
    "idle_deadline_ms": 20_000,
    "total_deadline_ms": 180_000,
}
HANGS = ("hang", "accept_then_hang")


def scale_of(case: dict[str, Any]) -> float:
    """1 for a short case; a long one is shortened as far as timers allow."""
    lasts_ms = sum(_lasts_ms(case, step) for step in case["wire"].get("exchanges", []))
    return max(SMALLEST, min(1.0, LONGEST_MS / max(lasts_ms, 1.0)))


def deadline_ms(case: dict[str, Any], name: str) -> float:
    return float(case["probe"].get(name) or DEADLINES_MS[name])


def deadlines(case: dict[str, Any], scale: float) -> Deadlines:
    """The case's clocks on the scale of its delays."""
    prefill, idle, total = (
        max(deadline_ms(case, name) / 1000 * scale, SHORTEST_DEADLINE_S) for name in DEADLINES_MS
    )
    return Deadlines(connect_s=5, prefill_s=prefill, idle_s=idle, total_s=total)


def _lasts_ms(case: dict[str, Any], step: dict[str, Any]) -> float:
    """Of one exchange: its delays, and the clock that ends it if the server never does."""
    response, streamed = step["response"], bool(step["request"].get("stream"))
    chunks = response.get("chunks", [])
    ms = response.get("headers_delay_ms", 0) + response.get("delay_ms", 0)
    ms += sum(chunk.get("delay_ms", 0) for chunk in chunks)
    if response.get("end") in HANGS or response.get("tcp") in HANGS:
        clock = "prefill_deadline_ms" if not chunks else "idle_deadline_ms"
        ms += deadline_ms(case, clock if streamed else "total_deadline_ms")
    return float(min(ms, deadline_ms(case, "total_deadline_ms")))


def stretch(record: Any, origin_ns: int, scale: float) -> None:
    """Every moment (`*_ns`) of a record, and of what it holds, as far from the origin as it
    would have been at full length."""
    if not is_dataclass(record):
        return
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, list):
            value[:] = [_token(item, origin_ns, scale) for item in value]
            for item in value:
                stretch(item, origin_ns, scale)
        elif field.name.endswith("_ns") and value:
            object.__setattr__(record, field.name, _moment(value, origin_ns, scale))


def _token(item: Any, origin_ns: int, scale: float) -> Any:
    if not isinstance(item, TokenChunk):
        return item
    return item._replace(at_ns=_moment(item.at_ns, origin_ns, scale))


def _moment(at_ns: int, origin_ns: int, scale: float) -> int:
    return origin_ns + round((at_ns - origin_ns) / scale)
