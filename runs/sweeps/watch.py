"""Beats for a running sweep, looks what is wished of it, and breaks a cell off when it must."""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from runs import claims as run_claims
from runs import workers
from runs.claims import Ending
from runs.models import Outcome, Run, RunState
from runs.sweeps import claims
from runs.sweeps.claims import Claim
from runs.sweeps.models import Wish

logger = logging.getLogger(__name__)

LOOK_S = 0.5
NOT_SENT = Ending(
    Outcome.INCONCLUSIVE, "cancelled", "The sweep was stopped before this cell began."
)


class Watch:
    """A thread beside the sweep, for as long as the `with` lasts."""

    def __init__(self, claim: Claim, cell_timeout_s: float) -> None:
        self.wish: str = Wish.NONE
        self.lost = False
        self.timed_out: set[int] = set()  # runs that took longer than a cell may
        self._claim = claim
        self._timeout = timedelta(seconds=cell_timeout_s)
        self._run_id: int | None = None
        self._beaten_s = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="sweep-watch", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(timeout=10)

    def cares_for(self, run_id: int | None) -> None:
        """The run that must be broken off when the sweep is."""
        self._run_id = run_id

    def breaks_off(self) -> bool:
        """The running cell too must stop."""
        return self.lost or self.wish == Wish.CANCEL or workers.stopping.is_set()

    def stops(self) -> bool:
        """No further cell and no further server."""
        return self.breaks_off() or self.wish == Wish.PAUSE

    def _follow(self) -> None:
        while not self._ended.wait(LOOK_S):
            try:
                self._look()
            except DatabaseError:
                logger.warning(
                    "Sweep %s could not be watched", self._claim.sweep_id, exc_info=True
                )
                connection.close()
        connection.close()

    def _look(self) -> None:
        wish = claims.wish_of(self._claim)
        self.lost, self.wish = wish is None, wish or Wish.NONE
        if time.monotonic() - self._beaten_s >= settings.HEARTBEAT_INTERVAL_S:
            self._beaten_s = time.monotonic()
            claims.beat(self._claim)
        if self._run_id is not None:
            self._look_at_run(self._run_id)

    def _look_at_run(self, run_id: int) -> None:
        open_runs = Run.objects.filter(pk=run_id, state=RunState.RUNNING, cancel_requested_at=None)
        late = open_runs.filter(started_at__lt=timezone.now() - self._timeout)
        if late.exists():
            self.timed_out.add(run_id)
            ask_to_stop(run_id)
        elif self.lost or self.wish == Wish.CANCEL:
            ask_to_stop(run_id)
            run_claims.finish_unclaimed(run_id, NOT_SENT)


def ask_to_stop(run_id: int) -> None:
    running = Run.objects.filter(pk=run_id, state=RunState.RUNNING, cancel_requested_at=None)
    running.update(cancel_requested_at=timezone.now())
