"""Reads series thinned: few points, but every peak and every gap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runs.memory.codec import MISSING, decode
from runs.memory.metrics import METRICS
from runs.memory.models import SeriesChunk

POINTS = 1_200  # of one line in a picture
GAP_FACTOR = 4  # a pause this many usual steps long is a gap
ROLLED_COLUMNS = 5  # time, minimum, mean, maximum, number of samples

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Series:
    """`values` are NaN where nothing was seen. `samples` counts what lies behind the points."""

    name: str
    times_ms: Floats
    values: Floats
    samples: int
    step_ms: int  # coarsest roll-up in it; 0: samples as they came

    def __bool__(self) -> bool:
        return bool(np.isfinite(self.values).any())


def series_names(run_id: int) -> set[str]:
    rows = SeriesChunk.objects.filter(run_id=run_id).order_by()
    return set(rows.values_list("name", flat=True).distinct())


def read_series(
    run_id: int,
    name: str,
    *,
    points: int | None = POINTS,
    from_ms: float | None = None,
    to_ms: float | None = None,
) -> Series:
    """One series of a run between two moments, with at most `points` points (None: all)."""
    chunks = SeriesChunk.objects.filter(run_id=run_id, name=name).order_by("start_ms")
    if from_ms is not None:
        chunks = chunks.filter(end_ms__gte=from_ms)
    if to_ms is not None:
        chunks = chunks.filter(start_ms__lte=to_ms)
    rows = list(chunks.values_list("step_ms", "count", "data"))
    times, values = _joined(((step, data) for step, _, data in rows), METRICS[name].scale)
    inside = _inside(times, from_ms, to_ms)
    times, values = with_gaps(times[inside], values[inside])
    if points is not None:
        times, values = thin(times, values, points)
    step_ms = max((step for step, _, _ in rows), default=0)
    return Series(name, times, values, sum(count for _, count, _ in rows), step_ms)


def _inside(times: Floats, from_ms: float | None, to_ms: float | None) -> npt.NDArray[np.bool_]:
    low = -np.inf if from_ms is None else from_ms
    high = np.inf if to_ms is None else to_ms
    return (times >= low) & (times <= high)


def _joined(chunks: Iterable[tuple[int, bytes | memoryview]], scale: int) -> tuple[Floats, Floats]:
    parts = [_of_chunk(step, data) for step, data in chunks]
    if not parts:
        return np.empty(0), np.empty(0)
    times = np.concatenate([times for times, _ in parts])
    stored = np.concatenate([values for _, values in parts])
    return times.astype(float), np.where(stored == MISSING, np.nan, stored / scale)


def _of_chunk(
    step_ms: int, data: bytes | memoryview
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """A rolled-up interval gives two points, its minimum and its maximum."""
    if not step_ms:
        times, values = decode(data, 2)
        return times, values
    times, low, _, high, _ = decode(data, ROLLED_COLUMNS)
    both = np.stack([times, times + step_ms // 2], axis=1).ravel()
    return both, np.stack([low, high], axis=1).ravel()


def with_gaps(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """A missing value in every pause that is much longer than the steps around it."""
    if len(times) < 3:
        return times, values
    steps = np.diff(times)
    median = np.median(steps)
    beside = np.maximum(np.roll(steps, 1), np.roll(steps, -1))
    # A change of the sampling rate is no gap: there, the step before or after is as long.
    usual = np.maximum(np.minimum(steps, beside), median)
    pauses = np.flatnonzero(steps > GAP_FACTOR * usual)
    return (
        np.insert(times, pauses + 1, times[pauses] + median),
        np.insert(values, pauses + 1, np.nan),
    )


def thin(times: Floats, values: Floats, points: int) -> tuple[Floats, Floats]:
    """At most `points` of them: of each bucket its lowest, its highest and one gap, in order.

    A peak one sample long is kept, and so is a gap: unlike averaging, nothing that a guard
    would have seen gets lost.
    """
    if len(times) <= points:
        return times, values
    buckets = max(1, (points - 2) // 3)
    edges = np.linspace(0, len(times), buckets + 1).astype(int)
    starts = edges[:-1]
    missing = np.isnan(values)
    low = np.minimum.reduceat(np.where(missing, np.inf, values), starts)
    high = np.maximum.reduceat(np.where(missing, -np.inf, values), starts)
    bucket = np.repeat(np.arange(buckets), np.diff(edges))
    keep = np.concatenate(
        [
            [0, len(times) - 1],
            _first_of_each(bucket, values == low[bucket]),
            _first_of_each(bucket, values == high[bucket]),
            _first_of_each(bucket, missing),
        ]
    )
    order = np.unique(keep)
    return times[order], values[order]


def _first_of_each(
    bucket: npt.NDArray[np.intp], chosen: npt.NDArray[np.bool_]
) -> npt.NDArray[np.intp]:
    """The first position in each bucket where `chosen` is true."""
    places = np.flatnonzero(chosen)
    _, firsts = np.unique(bucket[places], return_index=True)
    return np.asarray(places[firsts], np.intp)
