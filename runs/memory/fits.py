"""Straight lines through few or many points, with how sure they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MAX_POINTS = 400  # Theil-Sen looks at every pair
BEND = 1.15  # a step this much steeper than the one before is no straight line


@dataclass(frozen=True, slots=True)
class Fit:
    """Least squares. Standard errors are None with two points, where nothing is left to err."""

    slope: float
    intercept: float
    n: int
    slope_se: float | None
    residual: float | None  # standard deviation around the line
    mean_x: float
    sum_sq_x: float

    def at(self, x: float) -> float:
        return self.intercept + self.slope * x

    def se_at(self, x: float) -> float | None:
        """Standard error of the line itself at x; it widens away from what was measured."""
        if self.residual is None:
            return None
        return self.residual * math.sqrt(1 / self.n + (x - self.mean_x) ** 2 / self.sum_sq_x)

    @property
    def is_told_from_zero(self) -> bool:
        """Two standard errors; with two points only the sign can be looked at."""
        return self.slope > (0 if self.slope_se is None else 2 * self.slope_se)


def straight_line(x: Sequence[float], y: Sequence[float]) -> Fit | None:
    """Ordinary least squares; None with fewer than two different x."""
    if len(set(x)) < 2:
        return None
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    mean_x = float(xs.mean())
    sum_sq_x = float(((xs - mean_x) ** 2).sum())
    slope = float(((xs - mean_x) * (ys - ys.mean())).sum() / sum_sq_x)
    intercept = float(ys.mean() - slope * mean_x)
    n = len(xs)
    if n < 3:
        return Fit(slope, intercept, n, None, None, mean_x, sum_sq_x)
    residual = math.sqrt(float(((ys - intercept - slope * xs) ** 2).sum()) / (n - 2))
    return Fit(slope, intercept, n, residual / math.sqrt(sum_sq_x), residual, mean_x, sum_sq_x)


def bends_upwards(x: Sequence[float], y: Sequence[float]) -> bool:
    """Each step costs clearly more for its length than the one before: a line falls short."""
    pairs = sorted(zip(x, y, strict=True))
    steps = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(pairs) if b[0] > a[0]]
    return len(steps) >= 2 and all(
        later > BEND * earlier > 0 for earlier, later in pairwise(steps)
    )


@dataclass(frozen=True, slots=True)
class Drift:
    """A robust slope per unit of x and its 95 % interval."""

    slope: float
    low: float
    high: float
    intercept: float
    n: int

    @property
    def is_told_from_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def theil_sen(x: Floats, y: Floats, confidence: float = 0.95) -> Drift | None:
    """Median of the slopes of all pairs (Theil 1950, Sen 1968); None with fewer than ten points.

    The interval is Sen's, widened for neighbours that resemble each other (an effective number
    of points, as Hamed and Rao 1998 do for the trend test): memory series are never independent.
    Long series are first taken as medians of up to 400 stretches.
    """
    seen = np.isfinite(x) & np.isfinite(y)
    xs, ys = medians(x[seen], y[seen])
    n = len(xs)
    if n < 10 or xs[0] == xs[-1]:
        return None
    left, right = np.triu_indices(n, 1)
    steps = xs[right] - xs[left]
    slopes = np.sort((ys[right] - ys[left])[steps > 0] / steps[steps > 0])
    slope = float(np.median(slopes))
    intercept = float(np.median(ys - slope * xs))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    spread = z * math.sqrt(n * (n - 1) * (2 * n + 5) / 18 * inflation(ys - intercept - slope * xs))
    low = max(int((len(slopes) - spread) / 2), 0)
    high = min(int((len(slopes) + spread) / 2) + 1, len(slopes) - 1)
    return Drift(slope, float(slopes[low]), float(slopes[high]), intercept, n)


def medians(x: Floats, y: Floats, stretches: int = MAX_POINTS) -> tuple[Floats, Floats]:
    """A long series as the medians of equal numbers of points."""
    if len(x) <= stretches:
        return x, y
    parts = np.array_split(np.arange(len(x)), stretches)
    return (
        np.array([np.median(x[part]) for part in parts]),
        np.array([np.median(y[part]) for part in parts]),
    )


def inflation(residuals: Floats) -> float:
    """How many times the variance grows since neighbours resemble each other (lag one)."""
    centred = residuals - residuals.mean()
    power = float((centred**2).sum())
    if power == 0:
        return 1.0
    alike = min(max(float((centred[:-1] * centred[1:]).sum()) / power, 0.0), 0.95)
    return (1 + alike) / (1 - alike)
