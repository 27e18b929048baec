"""Celery's way in: the ledger is verified every hour, whether somebody looks or not."""

from __future__ import annotations

from celery import shared_task

from verdicts.ledger import services


@shared_task(name="verdicts.ledger.tasks.verify")
def verify() -> None:
    services.verify_ledger()
