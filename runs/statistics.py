"""Medians with how sure they are: percentile bootstrap, seeded so that a page reads the same.

(Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DRAWS = 2000
SHARE = 0.95
FEWEST = 3  # below that the draws repeat the values themselves and tell nothing


@dataclass(frozen=True, slots=True)
class Interval:
    """A median of `n` values; `low` and `high` hold it in 95 of 100 draws, None for too few."""

    mid: float
    n: int
    low: float | None = None
    high: float | None = None

    def overlaps(self, other: Interval) -> bool | None:
        """None where one of both has no interval."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return None
        return self.low <= other.high and other.low <= self.high


@dataclass(frozen=True, slots=True)
class Difference:
    """How much higher the second median is than the first, in per cent of the first."""

    percent: float
    low: float | None = None
    high: float | None = None

    @property
    def is_real(self) -> bool | None:
        """Whether the interval leaves out zero; None for single values."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0


def median_interval(values: Sequence[float], *, seed: int) -> Interval:
    """Raises ValueError without any value."""
    if not values:
        raise ValueError("There is no median of nothing.")
    mid = float(np.median(values))
    if len(values) < FEWEST:
        return Interval(mid, len(values))
    low, high = np.quantile(drawn_medians(values, seed), bounds())
    return Interval(mid, len(values), float(low), float(high))


def difference_interval(
    first: Sequence[float], second: Sequence[float], *, seed: int
) -> Difference:
    """Raises ValueError where one side is empty, or the first median is 0."""
    before, after = median_interval(first, seed=seed), median_interval(second, seed=seed)
    if not before.mid:
        raise ValueError("There is no per cent of nothing.")
    percent = (after.mid - before.mid) / before.mid * 100
    if min(len(first), len(second)) < FEWEST:
        return Difference(percent)
    a, b = drawn_medians(first, seed), drawn_medians(second, seed + 1)
    sound = a != 0
    low, high = np.quantile((b[sound] - a[sound]) / a[sound] * 100, bounds())
    return Difference(percent, float(low), float(high))


def drawn_medians(values: Sequence[float], seed: int) -> np.ndarray:
    draws = np.random.default_rng(seed).choice(np.asarray(values, float), (DRAWS, len(values)))
    medians: np.ndarray = np.median(draws, axis=1)
    return medians


def bounds() -> tuple[float, float]:
    return (1 - SHARE) / 2, (1 + SHARE) / 2
