"""Celery's way in for sweeps. A message carries an id only."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from runs.sweeps import claims, doorbell, executor


@shared_task(name="runs.sweeps.tasks.execute_sweep", bind=True)
def execute_sweep(self: Any, sweep_id: int) -> None:
    executor.execute(sweep_id, worker=self.request.hostname or "")


@shared_task(name="runs.sweeps.tasks.tick_sweeps")
def tick_sweeps() -> None:
    """Give back what stopped beating, and ring again for what nobody took."""
    claims.reap()
    doorbell.ring_again()
