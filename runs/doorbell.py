"""Rings the worker of a host. A lost, doubled or late message does no harm."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from runs.models import Run, RunState
from runs.workers import alive_workers

logger = logging.getLogger(__name__)

TASK = "runs.tasks.execute_run"


def ring(run: Run, *, expires_s: float | None = None) -> None:
    """Send the run's id to its host's queue. What the broker did not take is rung again later."""
    Run.objects.filter(pk=run.pk).update(rung_at=timezone.now())
    try:
        current_app.send_task(
            TASK, args=[run.pk], queue=run.host.queue, expires=expires_s, retry=False
        )
    except Exception:
        logger.warning("The doorbell of run %s could not be rung", run.pk, exc_info=True)


def ring_next(host_id: int) -> None:
    """The host has become free: ring for the run that has waited longest."""
    _ring_first(_takeable().filter(host_id=host_id))


def ring_again() -> None:
    """Ring for runs that nobody took, one a host."""
    limit = timezone.now() - timedelta(seconds=settings.RING_AGAIN_S)
    _ring_first(_takeable().filter(Q(rung_at=None) | Q(rung_at__lt=limit)))


def _takeable() -> QuerySet[Run]:
    """Queued runs whose host is free and has a living worker, longest waiting first."""
    lease = Q(host__lease=None) | Q(host__lease__run=None)
    free = lease | Q(host__lease__expires_at__lt=timezone.now())
    hosts = alive_workers().values("host_key")
    queued = Run.objects.filter(free, state=RunState.QUEUED, host__key__in=hosts)
    return queued.select_related("host").order_by("pk")


def _ring_first(runs: QuerySet[Run]) -> None:
    """These messages expire, so that nothing piles up while nobody listens."""
    first: dict[int, Run] = {}
    for run in runs:
        first.setdefault(run.host_id, run)
    for run in first.values():
        ring(run, expires_s=settings.RING_AGAIN_S)
