"""The engine's observer: takes events without waiting; a thread of its own stores them."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from types import TracebackType
from typing import Any, NamedTuple

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Max

from runs import claims
from runs.claims import Claim
from runs.memory.metrics import SAMPLE_KINDS
from runs.memory.writing import SeriesWriter
from runs.models import RunEvent
from runs.payloads import clean
from runs.storage import digest, store_requests
from runs.wake import wake_followers

logger = logging.getLogger(__name__)

ROUND_S = 0.2
BATCH = 500
DRAIN_S = 15.0  # how long the end of a run waits for a database that does not answer


class Pending(NamedTuple):
    t_ms: float
    kind: str
    payload: dict[str, Any]


class EventWriter:
    """Numbers and stores a run's events, beats its heart and looks at its cancel flag.

    `cancel` is set once somebody wants the run to stop, the claim is lost or storing fails;
    after a loss (`lost`) or a failure of our own (`error`) nothing more is written.
    """

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.cancel = threading.Event()
        self.lost = False
        self.error: Exception | None = None
        self._pending: deque[Pending] = deque()
        self._series = SeriesWriter(claim.run_id)
        self._started = time.perf_counter()
        self._beaten = time.monotonic()
        self._closing = threading.Event()
        self._seq = 0
        self._thread = threading.Thread(target=self._work, name=f"events-{claim.run_id}")

    def emit(self, kind: str, payload: dict[str, Any]) -> None:
        """Append and return. The last event is not ours: it is stored with the run's end."""
        if kind != "run.finished":
            own_ms = (time.perf_counter() - self._started) * 1000
            self._pending.append(Pending(payload.get("t_ms", own_ms), kind, payload))

    def __enter__(self) -> EventWriter:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._thread.join()

    def _work(self) -> None:
        try:
            while not self._closing.wait(ROUND_S) and self.error is None:
                self._round()
            self._drain()
            if not self.lost:
                self._series.save(now=True)
        finally:
            connection.close()

    def _drain(self) -> None:
        """Store what is left, for as long as the database may come back."""
        deadline = time.monotonic() + DRAIN_S
        pause = threading.Event()
        while self._pending and not self.lost and self.error is None:
            if self._round():
                continue
            if time.monotonic() > deadline:
                return
            pause.wait(ROUND_S)

    def _round(self) -> bool:
        """One batch. False when the database did not take it: it stays first in the queue."""
        batch = [self._pending.popleft() for _ in range(min(BATCH, len(self._pending)))]
        try:
            self._store(batch)
        except (OperationalError, InterfaceError):
            logger.warning(
                "Events of run %s wait for the database", self.claim.run_id, exc_info=True
            )
            self._pending.extendleft(reversed(batch))
            connection.close()
            return False
        except Exception as error:
            self.error = error
            self.cancel.set()
            return False
        if batch:
            wake_followers(self.claim.run_id)
        return True

    def _store(self, batch: list[Pending]) -> None:
        if self.lost:
            return
        standing = claims.look(self.claim)
        held = standing.held
        if held and (batch or self._beat_is_due()):
            held = self._write(batch)
        if not held:
            self.lost = True
        if standing.cancel or self.lost:
            self.cancel.set()

    def _beat_is_due(self) -> bool:
        return bool(time.monotonic() - self._beaten >= settings.HEARTBEAT_INTERVAL_S)

    def _write(self, batch: list[Pending]) -> bool:
        """All of a batch, or nothing: the beat comes first and tells whether we may write."""
        with transaction.atomic():
            if not claims.beat(self.claim):
                return False
            first = self._next_seq()
            RunEvent.objects.bulk_create(
                RunEvent(
                    run_id=self.claim.run_id,
                    seq=first + place,
                    t_ms=event.t_ms,
                    kind=event.kind[:24],
                    payload=clean(_compact(event)),
                )
                for place, event in enumerate(batch)
            )
            finished = [e.payload["result"] for e in batch if e.kind == "request.finished"]
            store_requests(self.claim.run_id, finished)
        self._seq = first + len(batch) - 1
        self._beaten = time.monotonic()
        samples = (e for e in batch if e.kind in SAMPLE_KINDS)
        self._series.add((e.payload.get("t_ms", e.t_ms), e.payload) for e in samples)
        self._series.save()
        return True

    def _next_seq(self) -> int:
        if not self._seq:
            rows = RunEvent.objects.filter(run_id=self.claim.run_id)
            self._seq = rows.aggregate(last=Max("seq"))["last"] or 0
        return self._seq + 1


def _compact(event: Pending) -> dict[str, Any]:
    payload = {key: value for key, value in event.payload.items() if key != "t_ms"}
    if event.kind == "request.finished":
        payload["result"] = digest(payload["result"])
    return payload
