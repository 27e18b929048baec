"""Celery's way in. A message carries an id only; what is due is decided by the database."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from runs import claims, doorbell, executor
from runs.memory.keeping import keep_in_order
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


@shared_task(name="runs.tasks.keep_series")
def keep_series() -> None:
    """Roll up and prune memory series as they age (docs/memory.md)."""
    keep_in_order()
