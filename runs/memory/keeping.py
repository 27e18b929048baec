"""How long series are kept, and in how much detail: see docs/memory.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

import numpy as np
from django.db import transaction
from django.utils import timezone

from runs.memory.codec import MISSING, Column, decode, encode
from runs.memory.metrics import SAMPLE_KINDS
from runs.memory.models import SeriesChunk
from runs.memory.reading import ROLLED_COLUMNS
from runs.memory.writing import store_chunks
from runs.models import Run, RunEvent, RunState

MINUTE_MS = 60_000
# (age of the run's end, what is left then). The last is kept as long as the run.
STAGES = ((timedelta(days=14), MINUTE_MS), (timedelta(days=180), 10 * MINUTE_MS))
EVENTS_KEPT = timedelta(days=7)
FOLLOWED = ("request.progress", "request.phase")  # only serve whoever follows the run
ROLLED_CHUNK_MS = 24 * 60 * MINUTE_MS


def keep_in_order(now: datetime | None = None, *, runs: int = 20) -> int:
    """Roll up and prune what is due, for some runs at a time. Returns how many were touched."""
    now = now or timezone.now()
    touched = 0
    for age, step_ms in reversed(STAGES):
        for run_id in _due(now - age, step_ms)[:runs]:
            roll_up(run_id, step_ms)
            touched += 1
    old = Run.objects.filter(state=RunState.FINISHED, finished_at__lt=now - EVENTS_KEPT)
    RunEvent.objects.filter(run__in=old, kind__in=SAMPLE_KINDS, run__series__isnull=False).delete()
    RunEvent.objects.filter(run__in=old, kind__in=FOLLOWED).delete()
    return touched


def _due(ended_before: datetime, step_ms: int) -> list[int]:
    finer = SeriesChunk.objects.filter(
        step_ms__lt=step_ms, run__state=RunState.FINISHED, run__finished_at__lt=ended_before
    )
    return list(finer.order_by("run_id").values_list("run_id", flat=True).distinct())


@transaction.atomic
def roll_up(run_id: int, step_ms: int) -> None:
    """Replace everything finer than `step_ms` by minimum, mean, maximum and number."""
    finer = SeriesChunk.objects.filter(run_id=run_id, step_ms__lt=step_ms)
    by_name: dict[str, list[Column]] = defaultdict(list)
    for name, step, data in finer.order_by("start_ms").values_list("name", "step_ms", "data"):
        by_name[name].append(as_rolled(data, step))
    chunks = [
        chunk
        for name, parts in by_name.items()
        for chunk in _chunks(run_id, name, rolled(np.concatenate(parts, axis=1), step_ms), step_ms)
    ]
    finer.delete()
    store_chunks(chunks)


def as_rolled(data: bytes | memoryview, step_ms: int) -> Column:
    """Samples as intervals of one sample each, so that both stages are one computation."""
    if step_ms:
        return decode(data, ROLLED_COLUMNS)
    times, values = decode(data, 2)
    return np.stack([times, values, values, values, (values != MISSING).astype(np.int64)])


def rolled(columns: Column, step_ms: int) -> Column:
    """Intervals of `step_ms`. An interval without any value stays missing."""
    times, low, mean, high, n = columns
    starts = np.flatnonzero(np.diff(times // step_ms, prepend=-1))
    counted = np.add.reduceat(n, starts)
    seen = n > 0
    total = np.add.reduceat(np.where(seen, mean.astype(float) * n, 0.0), starts)
    top = np.iinfo(np.int64).max
    lowest = np.minimum.reduceat(np.where(seen, low, top), starts)
    highest = np.maximum.reduceat(high, starts)  # MISSING is below everything
    middle = np.round(total / np.maximum(counted, 1)).astype(np.int64)
    empty = counted == 0
    return np.stack(
        [
            times[starts] // step_ms * step_ms,
            np.where(empty, MISSING, lowest),
            np.where(empty, MISSING, middle),
            np.where(empty, MISSING, highest),
            counted,
        ]
    )


def _chunks(run_id: int, name: str, columns: Column, step_ms: int) -> Iterator[SeriesChunk]:
    window = columns[0] // ROLLED_CHUNK_MS
    for day in np.unique(window):
        part = columns[:, window == day]
        yield SeriesChunk(
            run_id=run_id,
            name=name,
            step_ms=step_ms,
            start_ms=int(day) * ROLLED_CHUNK_MS,
            end_ms=int(part[0, -1]),
            count=part.shape[1],
            data=encode(part),
        )
