"""Executes one run: claim it and its host, let the engine work, store how it ended."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from typing import Any

from django.db import transaction

from runs import claims, doorbell, workers
from runs.claims import Claim, Ending
from runs.engine.observer import Cancel, Observer
from runs.engine.outcomes import Outcome
from runs.engine.plan import Plan
from runs.engine.records import RunReport
from runs.engine.session import run_plan_sync
from runs.events import EventWriter
from runs.memory.growth import record_growth
from runs.models import Run
from runs.payloads import clean, clean_text
from runs.storage import store_requests
from runs.wake import wake_followers

logger = logging.getLogger(__name__)

Engine = Callable[[Plan, Observer, Cancel], RunReport]


def execute(run_id: int, *, worker: str = "", engine: Engine = run_plan_sync) -> None:
    """Execute a queued run, if it is there to be taken and its host is free."""
    worker = worker or f"{socket.gethostname()}, process {os.getpid()}"
    try:
        claim = claims.claim(run_id, worker=worker)
    except claims.HostBusy:
        logger.info("Run %s waits: its host is measuring", run_id)
        return
    if claim is None:
        logger.info("Run %s has nothing left to do", run_id)
        return
    try:
        _execute_claimed(claim, engine)
    finally:
        wake_followers(run_id)
    doorbell.ring_next(Run.objects.values_list("host_id", flat=True).get(pk=run_id))


def _execute_claimed(claim: Claim, engine: Engine) -> None:
    try:
        with EventWriter(claim) as writer:
            report = _measure(claim, writer, engine)
        if writer.error is not None:
            raise writer.error
    except BaseException as error:
        logger.exception("Run %s failed in our own machinery", claim.run_id)
        claims.finish(claim, _own_failure(error), report={})
        if not isinstance(error, Exception):
            raise
        return
    if writer.lost:
        logger.warning("Run %s lost its claim; nothing more is stored", claim.run_id)
        return
    _store(claim, report, _ending(report, writer))
    record_growth(claim.run_id)


def _store(claim: Claim, report: RunReport, ending: Ending) -> None:
    """Requests once more: the end of a run may judge them differently than their own end."""
    with transaction.atomic():
        if claims.finish(claim, ending, report=_without_requests(report)):
            store_requests(claim.run_id, (request.as_dict() for request in report.requests))


def _measure(claim: Claim, writer: EventWriter, engine: Engine) -> RunReport:
    plan = Plan.from_dict(Run.objects.values_list("plan", flat=True).get(pk=claim.run_id))
    return engine(plan, writer, StopSignal(writer))


class StopSignal:
    """Somebody cancelled, the claim is lost, or this worker is being stopped."""

    def __init__(self, writer: EventWriter) -> None:
        self._writer = writer

    def is_set(self) -> bool:
        return self._writer.cancel.is_set() or workers.stopping.is_set()


def _ending(report: RunReport, writer: EventWriter) -> Ending:
    """A stop that nobody asked for is an interruption, whatever the engine calls it."""
    if report.failure_class == "cancelled" and not writer.cancel.is_set():
        return Ending(
            Outcome.INCONCLUSIVE,
            "interrupted",
            "The worker was stopped while the run was going on. "
            "Everything recorded until then is kept, but nothing can be concluded from it.",
        )
    return Ending(report.outcome, report.failure_class[:40], clean_text(report.explanation))


def _own_failure(error: BaseException) -> Ending:
    """Never a pass. Only the kind of error is stored: its text may quote what is secret."""
    return Ending(
        Outcome.INCONCLUSIVE,
        "interrupted",
        f"Our own machinery failed ({type(error).__name__}), so this says nothing about the "
        "server. The worker's log has the details. Run it again.",
    )


def _without_requests(report: RunReport) -> dict[str, Any]:
    """Requests have rows of their own."""
    whole = report.as_dict()
    del whole["requests"]
    return dict(clean(whole))
