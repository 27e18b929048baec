"""Who executes a sweep: conditional updates, as for runs; a doubled message finds no work."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from catalog.models import Host
from runs.models import Outcome
from runs.sweeps.models import OVER, CellState, Sweep, SweepCell, SweepState, Wish

CANCELLED_CELL = "The sweep was cancelled before its turn."
LEFT_CELL = "The sweep ended before its turn."


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to go on with one sweep, for as long as the token stands on its row."""

    sweep_id: int
    token: str


def claim(sweep_id: int, *, worker: str) -> Claim | None:
    """Take a planned sweep, unless another one launches and measures on its host."""
    taken = Claim(sweep_id, secrets.token_hex(16))
    now = timezone.now()
    with transaction.atomic():
        planned = Sweep.objects.filter(pk=sweep_id, state=SweepState.PLANNED)
        host_id = planned.values_list("host_id", flat=True).first()
        if host_id is None:
            return None
        Host.objects.select_for_update().get(pk=host_id)
        if Sweep.objects.filter(host_id=host_id, state=SweepState.RUNNING).exists():
            return None
        changed = planned.update(
            state=SweepState.RUNNING,
            claim_token=taken.token,
            worker=worker[:120],
            heartbeat_at=now,
            explanation="",
        )
        Sweep.objects.filter(pk=sweep_id, started_at=None).update(started_at=now)
    return taken if changed else None


def rows(held: Claim) -> QuerySet[Sweep]:
    """The sweep, for as long as the claim holds."""
    return Sweep.objects.filter(pk=held.sweep_id, claim_token=held.token, state=SweepState.RUNNING)


def beat(held: Claim) -> bool:
    """Say that the sweep goes on. False once the claim is lost."""
    return bool(rows(held).update(heartbeat_at=timezone.now()))


def wish_of(held: Claim) -> str | None:
    """What somebody wants of it; None once the claim is lost."""
    return rows(held).values_list("wish", flat=True).first()


def leave(held: Claim, state: str, explanation: str = "") -> bool:
    """Give the sweep back in this state, unless the claim was lost meanwhile."""
    with transaction.atomic():
        if not rows(held).update(**changes(state, explanation)):
            return False
        close_cells(held.sweep_id, state)
    return True


def end_unclaimed(sweep_id: int, states: tuple[str, ...], state: str, explanation: str) -> bool:
    """Change a sweep that no worker holds. False when it is in none of these states."""
    with transaction.atomic():
        found = Sweep.objects.filter(pk=sweep_id, state__in=states)
        if not found.update(**changes(state, explanation)):
            return False
        close_cells(sweep_id, state)
    return True


def changes(state: str, explanation: str) -> dict[str, object]:
    return {
        "state": state,
        "explanation": explanation,
        "claim_token": "",
        "wish": Wish.NONE,
        "heartbeat_at": None,
        "rung_at": None,
        "finished_at": timezone.now() if state in OVER else None,
    }


def close_cells(sweep_id: int, state: str) -> None:
    """Of a sweep that is over: nothing looks as if it were still to come or going on."""
    if state not in OVER:
        return
    cells = SweepCell.objects.filter(sweep_id=sweep_id)
    reason = CANCELLED_CELL if state == SweepState.CANCELLED else LEFT_CELL
    cells.filter(state=CellState.WAITING).update(state=CellState.SKIPPED, skip_reason=reason)
    cells.filter(state=CellState.RUNNING).update(
        state=CellState.DONE,
        outcome=Outcome.INCONCLUSIVE,
        failure_class="interrupted",
        explanation="The sweep ended while this cell was running.",
        finished_at=timezone.now(),
    )


def reap() -> list[int]:
    """Give back every sweep whose worker stopped beating; what it had finished stays finished."""
    limit = timezone.now() - timedelta(seconds=settings.HEARTBEAT_STALE_S)
    lost = Sweep.objects.filter(state=SweepState.RUNNING, heartbeat_at__lt=limit)
    return [sweep.pk for sweep in lost if reap_one(sweep, limit)]


def reap_one(sweep: Sweep, limit: datetime) -> bool:
    """What was wished of it meanwhile is done now."""
    state = {
        Wish.PAUSE.value: SweepState.PAUSED,
        Wish.CANCEL.value: SweepState.CANCELLED,
    }.get(sweep.wish, SweepState.PLANNED)
    explanation = (
        f"The worker {sweep.worker or 'of this sweep'} stopped answering. Finished cells stay "
        "finished; the one that was running is run again."
    )
    with transaction.atomic():
        still = Sweep.objects.filter(pk=sweep.pk, state=SweepState.RUNNING, heartbeat_at__lt=limit)
        if not still.update(**changes(state, explanation)):
            return False
        close_cells(sweep.pk, state)
    return True
