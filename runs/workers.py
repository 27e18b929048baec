"""Measuring workers that are alive: each says so in the database, which can be asked."""

from __future__ import annotations

import logging
import os
import threading
from datetime import timedelta
from typing import Any

from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import QuerySet
from django.utils import timezone

from runs.launch.cleanup import clean_up
from runs.models import WorkerBeat

logger = logging.getLogger(__name__)

QUEUE_PREFIX = "measure."

# Set once this process is asked to end: a thread cannot be killed, so the run looks at it.
stopping = threading.Event()


def alive_workers() -> QuerySet[WorkerBeat]:
    """Workers that beat within the last few intervals."""
    limit = timezone.now() - timedelta(seconds=settings.HEARTBEAT_STALE_S)
    return WorkerBeat.objects.filter(seen_at__gte=limit)


class BeatThread(threading.Thread):
    """Keeps this worker's row fresh until the worker ends, then removes it."""

    def __init__(self, name: str, host_key: str) -> None:
        super().__init__(name="worker-beat", daemon=True)
        self.worker, self.host_key = name, host_key
        self.started_at = timezone.now()
        self._ended = threading.Event()

    def run(self) -> None:
        self._try(self._beat)
        while not self._ended.wait(settings.HEARTBEAT_INTERVAL_S):
            self._try(self._beat)
        self._try(self._remove)
        connection.close()

    def end(self) -> None:
        self._ended.set()
        self.join(timeout=5)

    def _beat(self) -> None:
        WorkerBeat.objects.update_or_create(
            name=self.worker,
            defaults={
                "host_key": self.host_key,
                "pid": os.getpid(),
                "started_at": self.started_at,
                "seen_at": timezone.now(),
            },
        )

    def _remove(self) -> None:
        WorkerBeat.objects.filter(name=self.worker, pid=os.getpid()).delete()

    def _try(self, write: Any) -> None:
        try:
            write()
        except DatabaseError:
            logger.warning("The worker's beat could not be stored", exc_info=True)
            connection.close()


_beats: list[BeatThread] = []


@worker_ready.connect
def start_beating(sender: Any, **_: Any) -> None:
    """Only workers that take a measuring queue count as a host's worker."""
    for queue in sender.app.amqp.queues.consume_from:
        if queue.startswith(QUEUE_PREFIX):
            thread = BeatThread(sender.hostname[:120], queue.removeprefix(QUEUE_PREFIX))
            thread.start()
            _beats.append(thread)
            clean_up_launched()


def clean_up_launched() -> None:
    """Servers that a dead worker of this host had launched."""
    try:
        clean_up()
    except DatabaseError:
        logger.warning("Servers left behind could not be looked for", exc_info=True)


@worker_shutting_down.connect
def ask_runs_to_stop(**_: Any) -> None:
    stopping.set()


@worker_shutdown.connect
def stop_beating(**_: Any) -> None:
    for thread in _beats:
        thread.end()
    _beats.clear()
