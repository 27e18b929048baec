"""Celery's way in. A message carries an id only; what is due is decided by the database."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from runs import claims, doorbell, executor
from runs.wake import wake_followers


@shared_task(name="runs.tasks.execute_run", bind=True)
def execute_run(self: Any, run_id: int) -> None:
    executor.execute(run_id, worker=self.request.hostname or "")


@shared_task(name="runs.tasks.tick")
def tick() -> None:
    """End what stopped beating, and ring again for what nobody took."""
    for run_id in claims.reap():
        wake_followers(run_id)
    doorbell.ring_again()
