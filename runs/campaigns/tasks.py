"""Celery's way in for campaigns: a static tick. What is due is decided by the database."""

from __future__ import annotations

from celery import shared_task

from runs.campaigns import ticking


@shared_task(name="runs.campaigns.tasks.tick_campaigns")
def tick_campaigns() -> None:
    ticking.tick()
