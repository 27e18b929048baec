"""What each long prompt of a run did to the server's memory, kept as `GrowthPoint`s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from runs.memory.metrics import best_figure
from runs.memory.models import GrowthPoint
from runs.memory.reading import Series, read_series, series_names
from runs.models import Outcome, RunRequest

MIN_TOKENS = 512  # a shorter prompt moves memory by less than it moves anyway
BEFORE_MS = 4_000
SETTLE_MS = 500.0  # after the end of a request
LAST = 3  # samples whose median is a level


@dataclass(frozen=True, slots=True)
class Episode:
    """A fresh prompt with what belongs to it, and when the next begins (ms in the run)."""

    fresh: RunRequest
    repeat: RunRequest | None
    other: RunRequest | None
    until_ms: float


def record_growth(run_id: int) -> list[GrowthPoint]:
    """Store the growth points of a finished run, once. None without samples of the process."""
    figure = best_figure(series_names(run_id))
    if figure is None:
        return []
    requests = list(
        RunRequest.objects.filter(run_id=run_id).order_by("started_offset_ms", "index")
    )
    series = read_series(run_id, figure, points=None)
    points = [p for e in episodes(requests) if (p := point(figure, series, e, requests))]
    return GrowthPoint.objects.bulk_create(points, ignore_conflicts=True)


def episodes(requests: Sequence[RunRequest]) -> list[Episode]:
    """Long fresh prompts that were alone, each with the repeat and the short one after it."""
    found = []
    for place, request in enumerate(requests):
        if not is_long_and_fresh(request):
            continue
        after = requests[place + 1 :]
        length = next(
            (n for n, later in enumerate(after) if not belongs(later, request)), len(after)
        )
        own, rest = after[:length], after[length:]
        found.append(
            Episode(
                request,
                next((r for r in own if r.cache == "repeat"), None),
                next((r for r in own if r.cache != "repeat"), None),
                rest[0].started_offset_ms if rest else float("inf"),
            )
        )
    return found


def is_long_and_fresh(request: RunRequest) -> bool:
    return (
        request.cache == "fresh"
        and request.client_concurrency == 1
        and (request.prompt_tokens or 0) >= MIN_TOKENS
    )


def belongs(later: RunRequest, fresh: RunRequest) -> bool:
    """Of the same check, and no fresh long prompt itself."""
    return later.check_key == fresh.check_key and not is_long_and_fresh(later)


def point(
    figure: str, series: Series, episode: Episode, requests: Sequence[RunRequest]
) -> GrowthPoint | None:
    """None when no sample tells what was before, or while it was open."""
    fresh = episode.fresh
    start = fresh.started_offset_ms
    before = level(series, start - BEFORE_MS, start)
    peak = highest(series, start, episode.until_ms)
    if before is None or peak is None:
        return None
    return GrowthPoint(
        run_id=fresh.run_id,
        request_index=fresh.index,
        prompt_tokens=fresh.prompt_tokens or 0,
        is_clean=fresh.outcome == Outcome.CLEAN_PASS,
        figure=figure,
        before_bytes=before,
        peak_bytes=peak,
        retained_bytes=level_after(series, fresh, requests),
        after_repeat_bytes=level_after(series, episode.repeat, requests),
        after_other_bytes=level_after(series, episode.other, requests),
    )


def level_after(
    series: Series, request: RunRequest | None, requests: Sequence[RunRequest]
) -> int | None:
    """The level in the rest that follows a request; None where there was none."""
    if request is None:
        return None
    later = [r.started_offset_ms for r in requests if r.started_offset_ms > end_of(request)]
    return level(series, end_of(request) + SETTLE_MS, min(later, default=float("inf")))


def end_of(request: RunRequest) -> float:
    connect = request.record.get("timeline", {}).get("connect_ms") or 0.0
    return request.started_offset_ms + connect + (request.end_ms or 0.0)


def level(series: Series, from_ms: float, to_ms: float) -> int | None:
    """The median of the last samples between two moments."""
    seen = _between(series, from_ms, to_ms)
    return round(float(np.median(seen[-LAST:]))) if len(seen) else None


def highest(series: Series, from_ms: float, to_ms: float) -> int | None:
    seen = _between(series, from_ms, to_ms)
    return round(float(seen.max())) if len(seen) else None


def _between(series: Series, from_ms: float, to_ms: float) -> np.ndarray:
    inside = (series.times_ms >= from_ms) & (series.times_ms <= to_ms)
    values = series.values[inside]
    return values[np.isfinite(values)]
