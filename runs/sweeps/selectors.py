"""Reading sweeps for pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from catalog.models import Deployment
from runs.sweeps.models import OVER, CellState, Sweep, SweepCell, SweepState

STATE_OUTCOMES = {
    SweepState.PLANNED.value: "queued",
    SweepState.RUNNING.value: "running",
}


def listed_sweeps() -> QuerySet[Sweep]:
    """Newest first, with how many of their cells are over."""
    sweeps = Sweep.objects.select_related("deployment__artifact", "host", "profile")
    return sweeps.order_by("-pk").annotate(
        cell_count=Count("cells"),
        over_count=Count(
            "cells", filter=~Q(cells__state__in=(CellState.WAITING, CellState.RUNNING))
        ),
    )


def deployments_swept() -> QuerySet[Deployment]:
    """Swept here, or by a report that tells of runtime parallel."""
    reported = Q(figures__metric="ttft_mean_s", figures__workload__contains=", p") | Q(
        figures__metric="wall_s", figures__workload__icontains="NUM_PARALLEL"
    )
    return Deployment.objects.filter(Q(sweeps__isnull=False) | reported).distinct()


def cells_of(sweep: Sweep) -> list[SweepCell]:
    return list(sweep.cells.select_related("run", "launch", "revision").order_by("position"))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sweep is. Seconds; `left_s` None while nothing supports a guess."""

    total: int
    done: int
    skipped: int
    failed: int
    elapsed_s: float | None
    left_s: float | None
    running: SweepCell | None

    @property
    def over(self) -> int:
        return self.done + self.skipped + self.failed


def progress_of(sweep: Sweep, cells: Iterable[SweepCell]) -> Progress:
    """Left is the time per finished cell so far, times those that wait."""
    cells = list(cells)
    by_state = {state: [c for c in cells if c.state == state] for state in CellState}
    done = by_state[CellState.DONE]
    left = len(by_state[CellState.WAITING]) + len(by_state[CellState.RUNNING])
    took = [(c.finished_at - c.started_at) for c in done if c.finished_at and c.started_at]
    each = sum(took, timedelta()) / len(took) if took else None
    return Progress(
        total=len(cells),
        done=len(done),
        skipped=len(by_state[CellState.SKIPPED]),
        failed=len(by_state[CellState.FAILED]),
        elapsed_s=elapsed_s(sweep),
        left_s=(each * left).total_seconds()
        if each and left and sweep.state not in OVER
        else None,
        running=next(iter(by_state[CellState.RUNNING]), None),
    )


def elapsed_s(sweep: Sweep) -> float | None:
    if sweep.started_at is None:
        return None
    return ((sweep.finished_at or timezone.now()) - sweep.started_at).total_seconds()
