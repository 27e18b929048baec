"""Collects samples into chunks, for the thread that stores a run's events."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from django.db import DatabaseError

from runs.memory.codec import encode, whole
from runs.memory.metrics import METRICS
from runs.memory.models import SeriesChunk

logger = logging.getLogger(__name__)

CHUNK_MS = 600_000
SAVE_EVERY_S = 10.0  # what a killed worker can lose; its events have it all the same

Stretch = tuple[list[int], list[float | None]]


class SeriesWriter:
    """Keeps the open chunk of each series in memory and stores it now and then.

    Never used by the measuring thread: `add` and `save` belong to the one that writes events.
    """

    def __init__(self, run_id: int) -> None:
        self.run_id = run_id
        self._open: dict[tuple[str, int], Stretch] = {}
        self._begun: set[str] = set()
        self._changed: set[tuple[str, int]] = set()
        self._saved_s = time.monotonic()

    def add(self, samples: Iterable[tuple[float, Mapping[str, Any]]]) -> None:
        """Take samples as (ms since the run started, values by metric). Unknown keys are left.

        None with a reason (`gap`) ends a line that began; without one, nobody looked.
        """
        for t_ms, values in samples:
            for name in METRICS.keys() & values.keys():
                value = _number(values[name])
                if value is not None or (values.get("gap") and name in self._begun):
                    self._append(name, round(t_ms), value)

    def _append(self, name: str, t_ms: int, value: float | None) -> None:
        self._begun.add(name)
        key = (name, t_ms // CHUNK_MS)
        times, kept = self._open.setdefault(key, ([], []))
        times.append(t_ms)
        kept.append(value)
        self._changed.add(key)

    def save(self, *, now: bool = False) -> None:
        """Store what changed, when it is due. A database that refuses is asked again later."""
        if not self._changed or not (now or time.monotonic() - self._saved_s >= SAVE_EVERY_S):
            return
        try:
            store_chunks(self._chunk(*key) for key in sorted(self._changed))
        except DatabaseError:
            logger.warning("Series of run %s wait for the database", self.run_id, exc_info=True)
            return
        self._saved_s = time.monotonic()
        self._changed.clear()
        newest = max(window for _, window in self._open)
        self._open = {key: kept for key, kept in self._open.items() if key[1] == newest}

    def _chunk(self, name: str, window: int) -> SeriesChunk:
        times, values = self._open[name, window]
        return raw_chunk(self.run_id, name, times, values, start_ms=window * CHUNK_MS)


def raw_chunk(
    run_id: int, name: str, times: list[int], values: list[float | None], *, start_ms: int
) -> SeriesChunk:
    columns = np.stack([np.array(times, np.int64), whole(values, METRICS[name].scale)])
    return SeriesChunk(
        run_id=run_id,
        name=name,
        start_ms=start_ms,
        end_ms=times[-1],
        count=len(times),
        data=encode(columns),
    )


def store_chunks(chunks: Iterable[SeriesChunk]) -> None:
    """Insert chunks; one that is there already (the open one, shorter) is replaced."""
    SeriesChunk.objects.bulk_create(
        chunks,
        batch_size=200,
        update_conflicts=True,
        unique_fields=["run", "name", "step_ms", "start_ms"],
        update_fields=["end_ms", "count", "data"],
    )


def _number(value: Any) -> float | None:
    """A finite number of a size that can be stored, else missing."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and abs(value) < 2**62 else None
