"""The ticks of telling people."""

from __future__ import annotations

from celery import shared_task

from verdicts.notifications.delivery import deliver_due


@shared_task(name="verdicts.notifications.tasks.deliver")
def deliver() -> None:
    """Send to webhooks what is due."""
    deliver_due()
