"""Reading a run's numbered log after any point: what the socket sends and the fallback answers."""

from __future__ import annotations

from typing import TypedDict

from django.conf import settings
from django.utils import timezone

from runs.models import HostLease, Run, RunState
from runs.workers import alive_workers

PAGE = 500


class EventDict(TypedDict):
    seq: int
    t_ms: float
    kind: str
    payload: dict[str, object]


class Status(TypedDict):
    state: str
    sentence: str
    is_stalled: bool
    is_cancelling: bool


class Page(TypedDict):
    """`is_more`: ask again at once. `is_ended`: nothing will ever follow."""

    events: list[EventDict]
    last: int
    elapsed_ms: float | None  # since the run started, now
    is_more: bool
    is_ended: bool
    status: Status


def read_page(run_id: int, after: int) -> Page:
    """Up to 500 events after number `after`. Raises Run.DoesNotExist."""
    # The row first: a run seen as finished has all of its events.
    run = Run.objects.select_related("host").defer("plan", "report").get(pk=run_id)
    rows = run.events.filter(seq__gt=after).order_by("seq")[: PAGE + 1]
    events = [
        EventDict(seq=row.seq, t_ms=row.t_ms, kind=row.kind, payload=row.payload) for row in rows
    ]
    is_more = len(events) > PAGE
    shown = events[:PAGE]
    return Page(
        events=shown,
        last=shown[-1]["seq"] if shown else after,
        elapsed_ms=_elapsed_ms(run),
        is_more=is_more,
        is_ended=run.state == RunState.FINISHED and not is_more,
        status=status_of(run),
    )


def _elapsed_ms(run: Run) -> float | None:
    if run.started_at is None:
        return None
    until = run.finished_at or timezone.now()
    return (until - run.started_at).total_seconds() * 1000


def status_of(run: Run) -> Status:
    """The run's state in words, and whether its worker has gone quiet."""
    return Status(
        state=run.state,
        sentence=_sentence(run),
        is_stalled=_is_stalled(run),
        is_cancelling=run.state == RunState.RUNNING and run.cancel_requested_at is not None,
    )


def _sentence(run: Run) -> str:
    if run.state == RunState.QUEUED:
        return waiting_for(run)
    if run.state == RunState.FINISHED:
        return f"{run.get_outcome_display()}."
    if run.cancel_requested_at is not None:
        return "Stopping: open requests are being closed."
    if _is_stalled(run):
        return (
            "The worker has not been heard of for a while. If it stays quiet, the run is ended as "
            "interrupted, with everything recorded so far."
        )
    return f"Measuring on {run.host}."


def waiting_for(run: Run) -> str:
    """Why a queued run has not begun."""
    lease = HostLease.objects.filter(host_id=run.host_id, run__isnull=False).first()
    if lease is not None and lease.run_id != run.pk:
        return f"Waiting for {run.host}: run #{lease.run_id} is measuring there."
    if not alive_workers().filter(host_key=run.host.key).exists():
        return f"Waiting for a worker: none is alive for {run.host}."
    return f"Waiting for the worker of {run.host} to begin."


def _is_stalled(run: Run) -> bool:
    if run.state != RunState.RUNNING or run.heartbeat_at is None:
        return False
    quiet_s = (timezone.now() - run.heartbeat_at).total_seconds()
    return bool(quiet_s > 3 * settings.HEARTBEAT_INTERVAL_S)
