"""What the pictures share: bars, and an axis with round steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

HAIR = 0.25  # percent: the least width that can be seen


@dataclass(frozen=True, slots=True)
class Bar:
    """`x` and `width` are percentages, ready for an attribute; `kind` is its CSS class."""

    x: str
    width: str
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    label: str
    anchor: str = "middle"


def percent(value: float) -> str:
    return f"{value:.3f}%"


def duration_label(ms: float) -> str:
    return f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:g} s"


def ticks(
    span: float, at_most: int = 4, label: Callable[[float], str] = duration_label
) -> list[Tick]:
    """Round steps of 1, 2 or 5 from zero to the span (ms, unless a label says otherwise)."""
    if span <= 0:
        return []
    raw = span / at_most
    size = 10 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw)
    places = range(int(span / step) + 1)
    return [
        Tick(
            percent(100 * place * step / span),
            label(round(place * step, 6)),
            "start" if place == 0 else "middle" if place * step < 0.96 * span else "end",
        )
        for place in places
    ]
