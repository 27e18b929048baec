"""Executes a sweep: server after server, cell after cell, each cell a run like any other.

Pattern and promises are those of `runs.executor`: what is stored is enough for another worker to
go on, and nothing is written once the claim is lost.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db.models import QuerySet

from catalog.models import Endpoint, Revision
from runs import executor as run_executor
from runs import workers
from runs.launch.arguments import Parameters
from runs.launch.models import Launch
from runs.launch.permission import LaunchRefused
from runs.launch.readiness import LaunchFailed
from runs.launch.running import launched
from runs.models import Run, RunState
from runs.sweeps import claims, doorbell, outcome
from runs.sweeps.cell_runs import Served, store_cell_run, store_warm_up
from runs.sweeps.models import CellState, Sweep, SweepCell, SweepState, Wish
from runs.sweeps.watch import Watch

logger = logging.getLogger(__name__)

Ending = tuple[str, str]  # the sweep's state, and why

LOOK_AGAIN_S = 1.0  # while another run measures on the host
# After these the same server is no good for another cell: a new one is started.
GONE = ("process_crash", "process_restarted", "connect_failed", "memory_guard", "stale_slot")
STOPPED = "Its worker was stopped; the sweep goes on when one is there again."


def execute(sweep_id: int, *, worker: str = "") -> None:
    """Go on with a planned sweep, if it is there to be taken and no other runs on its host."""
    claim = claims.claim(sweep_id, worker=worker)
    if claim is None:
        logger.info("Sweep %s has nothing left to do here", sweep_id)
        return
    sweep = Sweep.objects.select_related("deployment__host", "deployment__runtime", "profile").get(
        pk=sweep_id
    )
    with Watch(claim, sweep.cell_timeout_s) as watch:
        state, words = conduct(sweep, watch, worker)
    claims.leave(claim, state, words)
    doorbell.ring_again()


def conduct(sweep: Sweep, watch: Watch, worker: str) -> Ending:
    """Never raises: what fails in our own machinery ends the sweep, and says so."""
    try:
        return Sweeping(sweep, watch, worker).run()
    except Exception as error:
        logger.exception("Sweep %s failed in our own machinery", sweep.pk)
        return SweepState.FAILED, (
            f"Our own machinery failed ({type(error).__name__}); the worker's log has the "
            "details. Finished cells stay; what was left has not been measured."
        )


class Sweeping:
    """One worker's part of a sweep."""

    def __init__(self, sweep: Sweep, watch: Watch, worker: str) -> None:
        self.sweep, self.watch, self.worker = sweep, watch, worker

    def run(self) -> Ending:
        outcome.settle(self.sweep)
        while (cell := self.waiting().first()) is not None:
            if ending := self.ending():
                return ending
            try:
                self.run_group(cell.runtime_parallel)
            except LaunchRefused as refused:
                return SweepState.PAUSED, f"{refused} Resume the sweep when that is put right."
        return self.ending(is_over=True) or (SweepState.FINISHED, "")

    def waiting(self) -> QuerySet[SweepCell]:
        """Cells that still have to run, in their order."""
        return self.sweep.cells.filter(state=CellState.WAITING).order_by("position")

    def ending(self, *, is_over: bool = False) -> Ending | None:
        """Why no further cell may begin; None while nothing stands in the way."""
        if self.watch.wish == Wish.CANCEL:
            return SweepState.CANCELLED, self.said()
        if is_over:
            return None
        if self.watch.wish == Wish.PAUSE:
            return SweepState.PAUSED, self.said()
        if self.watch.lost or workers.stopping.is_set():
            return SweepState.PLANNED, STOPPED
        if (failed := outcome.failures(self.sweep)) >= self.sweep.max_failures:
            count = "1 failure" if failed == 1 else f"{failed} failures"
            return SweepState.FAILED, (
                f"{count}, and it was to stop at {self.sweep.max_failures}. Look at the failed "
                "cells first; what was left has not been measured."
            )
        return None

    def said(self) -> str:
        """Who wished it, as stored with the wish."""
        return Sweep.objects.values_list("explanation", flat=True).get(pk=self.sweep.pk)

    def run_group(self, parallel: int | None) -> None:
        """The cells of one server. Those that it does not live to see get a new one."""
        try:
            with self.server(parallel) as served:
                self.warm_up(served)
                for cell in self.waiting().filter(runtime_parallel=parallel):
                    if self.ending():
                        return
                    if self.run_cell(cell, served) and served.launch:
                        return
        except LaunchFailed as failed:
            if not self.watch.stops():
                words, launch = failed.explanation, self.last_launch()
                outcome.fail_server(self.sweep, parallel, launch, failed.failure_class, words)

    @contextmanager
    def server(self, parallel: int | None) -> Iterator[Served]:
        """Launched with so many slots, or the one that somebody else runs."""
        if self.sweep.profile is None or parallel is None:
            cell = self.waiting().filter(runtime_parallel=parallel).first()
            yield served_by(cell.revision if cell else None, self.sweep.endpoint)
            return
        parameters = Parameters(**{**self.sweep.base, "parallel": parallel})
        with launched(
            profile=self.sweep.profile,
            parameters=parameters,
            deployment=self.sweep.deployment,
            stop=self.watch.stops,
        ) as launch:
            yield served_by(launch.revision, launch.endpoint, launch)

    def last_launch(self) -> Launch | None:
        """Of this worker: the one that has just failed."""
        own = Launch.objects.filter(profile=self.sweep.profile, worker_pid=os.getpid())
        return own.order_by("-pk").first()

    def warm_up(self, served: Served) -> None:
        if requests := int(self.sweep.grid.get("warm_up") or 0):
            self.see_through(store_warm_up(self.sweep, served, requests))

    def run_cell(self, cell: SweepCell, served: Served) -> bool:
        """Whether its server is of no use for another cell."""
        run = store_cell_run(cell, served)
        outcome.begin(cell, served.launch, run)
        self.see_through(run)
        if self.watch.lost:
            return True
        timed_out = run.pk in self.watch.timed_out
        if run.state == RunState.FINISHED:
            outcome.end(cell, run, timed_out=timed_out)
        else:
            outcome.wait_again(cell)
        return timed_out or run.failure_class in GONE

    def see_through(self, run: Run) -> None:
        """Execute it here, unless another worker is quicker; wait while the host is measuring."""
        self.watch.cares_for(run.pk)
        pause = threading.Event()
        while True:
            run_executor.execute(run.pk, worker=self.worker)
            run.refresh_from_db()
            if run.state == RunState.FINISHED or self.watch.breaks_off():
                break
            pause.wait(LOOK_AGAIN_S)
        self.watch.cares_for(None)


def served_by(
    revision: Revision | None, endpoint: Endpoint | None, launch: Launch | None = None
) -> Served:
    """Raises LaunchFailed for a server that has no revision or address to be measured by."""
    if revision is None or endpoint is None:
        raise LaunchFailed("init_failed", "The server has no revision or no address on record.")
    return Served(revision, endpoint, launch)
