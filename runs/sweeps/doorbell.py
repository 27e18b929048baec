"""Rings the worker of a sweep's host. A lost, doubled or late message does no harm."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from runs.sweeps.models import Sweep, SweepState
from runs.workers import alive_workers

logger = logging.getLogger(__name__)

TASK = "runs.sweeps.tasks.execute_sweep"


def ring(sweep: Sweep, *, expires_s: float | None = None) -> None:
    """Send the sweep's id to its host's queue. What the broker did not take is rung again."""
    Sweep.objects.filter(pk=sweep.pk).update(rung_at=timezone.now())
    try:
        current_app.send_task(
            TASK, args=[sweep.pk], queue=sweep.host.queue, expires=expires_s, retry=False
        )
    except Exception:
        logger.warning("The doorbell of sweep %s could not be rung", sweep.pk, exc_info=True)


def ring_again() -> None:
    """Ring for the longest waiting sweep of each host that has a living worker and no other."""
    limit = timezone.now() - timedelta(seconds=settings.RING_AGAIN_S)
    busy = Sweep.objects.filter(state=SweepState.RUNNING).values("host_id")
    waiting = Sweep.objects.filter(
        Q(rung_at=None) | Q(rung_at__lt=limit),
        state=SweepState.PLANNED,
        host__key__in=alive_workers().values("host_key"),
    ).exclude(host_id__in=busy)
    first: dict[int, Sweep] = {}
    for sweep in waiting.select_related("host").order_by("pk"):
        first.setdefault(sweep.host_id, sweep)
    for sweep in first.values():
        ring(sweep, expires_s=settings.RING_AGAIN_S)
