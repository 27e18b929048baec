"""Who executes a run: conditional updates, so that a doubled or late message finds nothing to do.

A claim is a token on the run's row together with the lease of its host. Both are taken, beaten
and given back together, always in the order run, lease. Machines need synchronised clocks to
within a few seconds, as any heartbeat does.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from runs import signals
from runs.models import HostLease, Outcome, Run, RunEvent, RunState


class HostBusy(Exception):
    """Another run measures on this host; the run stays queued."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to execute one run, for as long as the token stands on its row."""

    run_id: int
    token: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a claim still holds, and whether somebody wants the run to stop."""

    held: bool
    cancel: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: what goes onto its row."""

    outcome: str
    failure_class: str = ""
    explanation: str = ""


def claim(run_id: int, *, worker: str) -> Claim | None:
    """Take a queued run and its host, or None when there is nothing to take.

    Raises HostBusy, with the run still queued, while another run measures on its host.
    """
    taken = Claim(run_id, secrets.token_hex(16))
    now = timezone.now()
    with transaction.atomic():
        changed = Run.objects.filter(pk=run_id, state=RunState.QUEUED).update(
            state=RunState.RUNNING,
            claim_token=taken.token,
            worker=worker[:120],
            started_at=now,
            heartbeat_at=now,
        )
        if not changed:
            return None
        _take_lease(taken, now)
    return taken


def beat(held: Claim) -> bool:
    """Say that the run is alive. False once the claim is lost: then nothing may be written."""
    now = timezone.now()
    alive = _rows(held).update(heartbeat_at=now)
    lease = HostLease.objects.filter(token=held.token).update(expires_at=_expiry(now))
    return bool(alive and lease)


def look(held: Claim) -> Standing:
    """Read the claim and the cancel flag without writing."""
    flags = _rows(held).values_list("cancel_requested_at", flat=True)[:1]
    for asked_at in flags:
        return Standing(held=True, cancel=asked_at is not None)
    return Standing(held=False, cancel=False)


def finish(held: Claim, ending: Ending, *, report: dict[str, Any]) -> bool:
    """Store the result and give the host back, unless the claim was lost meanwhile."""
    with transaction.atomic():
        if not _end(_rows(held), held.run_id, ending, report):
            return False
        HostLease.objects.filter(token=held.token).update(run=None, token="", expires_at=None)
    return True


def finish_unclaimed(run_id: int, ending: Ending) -> bool:
    """End a run that no worker has taken yet. False when one has, or when it is over."""
    with transaction.atomic():
        return _end(Run.objects.filter(pk=run_id, state=RunState.QUEUED), run_id, ending, {})


def reap() -> list[int]:
    """End every run whose worker stopped beating, keeping what was recorded. Gives their ids."""
    limit = timezone.now() - timedelta(seconds=settings.HEARTBEAT_STALE_S)
    lost = Run.objects.filter(state=RunState.RUNNING, heartbeat_at__lt=limit)
    return [run.pk for run in lost if _reap(run, limit)]


def _reap(run: Run, limit: datetime) -> bool:
    ending = Ending(
        Outcome.INCONCLUSIVE,
        "interrupted",
        f"The worker {run.worker or 'of this run'} stopped answering while the run was going on. "
        "Everything recorded until then is kept, but nothing can be concluded from it.",
    )
    still = Run.objects.filter(pk=run.pk, state=RunState.RUNNING, heartbeat_at__lt=limit)
    with transaction.atomic():
        if not _end(still, run.pk, ending, {"checks": _finished_checks(run.pk)}):
            return False
        HostLease.objects.filter(run=run).update(run=None, token="", expires_at=None)
    return True


def _finished_checks(run_id: int) -> list[dict[str, Any]]:
    told = RunEvent.objects.filter(run_id=run_id, kind="check.finished").order_by("seq")
    return [event.payload["result"] for event in told if "result" in event.payload]


def _rows(held: Claim) -> Any:
    return Run.objects.filter(pk=held.run_id, claim_token=held.token, state=RunState.RUNNING)


def _end(rows: Any, run_id: int, ending: Ending, report: dict[str, Any]) -> bool:
    """The row and the last event change together: whoever sees one sees the other."""
    now = timezone.now()
    changed = rows.update(
        state=RunState.FINISHED,
        outcome=ending.outcome,
        failure_class=ending.failure_class,
        explanation=ending.explanation,
        report=report,
        finished_at=now,
    )
    if changed:
        _append_last_event(run_id, ending, now)
        signals.tell(signals.run_finished, run_id=run_id)
    return bool(changed)


def _append_last_event(run_id: int, ending: Ending, now: datetime) -> None:
    last = RunEvent.objects.filter(run_id=run_id).aggregate(seq=Max("seq"), t_ms=Max("t_ms"))
    started_at = Run.objects.values_list("started_at", flat=True).get(pk=run_id)
    elapsed_ms = (now - started_at).total_seconds() * 1000 if started_at else 0.0
    RunEvent.objects.create(
        run_id=run_id,
        seq=(last["seq"] or 0) + 1,
        t_ms=max(last["t_ms"] or 0.0, elapsed_ms),
        kind="run.finished",
        payload={
            "outcome": str(ending.outcome),
            "failure_class": ending.failure_class,
            "explanation": ending.explanation,
        },
    )


def _take_lease(taken: Claim, now: datetime) -> None:
    host_id = Run.objects.values_list("host_id", flat=True).get(pk=taken.run_id)
    HostLease.objects.get_or_create(host_id=host_id)
    free = Q(run=None) | Q(expires_at__lt=now)
    changed = HostLease.objects.filter(free, host_id=host_id).update(
        run_id=taken.run_id, token=taken.token, expires_at=_expiry(now)
    )
    if not changed:
        raise HostBusy


def _expiry(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.HEARTBEAT_STALE_S)
