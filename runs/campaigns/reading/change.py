"""Where a series changed its level: Pettitt's rank test, which no single spike can move.

A. N. Pettitt, A non-parametric approach to the change-point problem, Applied Statistics 28 (1979).
The p-value is his approximation 2 exp(-6 K^2 / (n^3 + n^2)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 12
SURE = 0.001  # a page with many series must not cry wolf
SHORTEST = 6  # values on each side of a change


@dataclass(frozen=True, slots=True)
class Change:
    """The level from `index` on is another. Medians before and after, in the series' unit."""

    index: int
    before: float
    after: float
    p_value: float
    n: int

    @property
    def percent(self) -> float | None:
        return (self.after - self.before) / self.before * 100 if self.before else None


def change_point(values: Sequence[float]) -> Change | None:
    """The one most likely change, or None where chance explains it too."""
    n = len(values)
    if n < FEWEST:
        return None
    heights = 2 * np.cumsum(ranked(values)) - np.arange(1, n + 1) * (n + 1)
    inside = np.abs(heights[SHORTEST - 1 : n - SHORTEST])
    if not inside.size:
        return None
    index = int(np.argmax(inside)) + SHORTEST
    top = float(inside.max())
    p_value = min(1.0, 2 * math.exp(-6 * top**2 / (n**3 + n**2)))
    if p_value > SURE:
        return None
    before, after = float(np.median(values[:index])), float(np.median(values[index:]))
    return Change(index, before, after, p_value, n)


def ranked(values: Sequence[float]) -> np.ndarray:
    """Ranks from 1; equal values share their mean rank, so that a flat line has no trend."""
    _, inverse, counts = np.unique(
        np.asarray(values, float), return_inverse=True, return_counts=True
    )
    last = np.cumsum(counts)
    means: np.ndarray = last - (counts - 1) / 2
    found: np.ndarray = means[inverse]
    return found
