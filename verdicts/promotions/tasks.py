"""The ticks of promotions: what nobody decided in time, and evidence that gets old."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from verdicts.promotions.services.requests import expire_due
from verdicts.promotions.services.warning import warn_of_staleness


@shared_task(name="verdicts.promotions.tasks.expire")
def expire() -> None:
    expire_due(timezone.now())


@shared_task(name="verdicts.promotions.tasks.warn")
def warn() -> None:
    warn_of_staleness(timezone.now())
