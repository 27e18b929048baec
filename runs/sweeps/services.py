"""Starting, pausing, resuming and cancelling sweeps."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from functools import partial
from typing import Any

from django.db import transaction

from catalog.models import Deployment, Layer
from people.access import Action, require
from people.models import User
from runs.launch.arguments import Parameters
from runs.launch.models import LaunchProfile
from runs.sweeps import claims, doorbell
from runs.sweeps.grid import Grid
from runs.sweeps.models import CellState, Sweep, SweepCell, SweepState, Wish
from runs.sweeps.planning import Draft, Planned, PlannedCell, external_target, plan_sweep

MOST_SEEDS = 2**31


class SweepRefused(ValueError):
    """A sweep cannot be started or controlled so; the message says why and what to do."""


def start_sweep(
    *,
    actor: User,
    deployment: Deployment,
    grid: Grid,
    profile: LaunchProfile | None = None,
    layer: str = Layer.DIRECT,
    base: Parameters | None = None,
    guards: dict[str, float] | None = None,
    seed: int | None = None,
    cell_timeout_s: int = 900,
    max_failures: int = 5,
    note: str = "",
) -> Sweep:
    """Store the sweep with all its cells and ring its host. `profile` None: somebody else runs
    the server, and only client concurrency is swept.

    Raises PermissionDenied, GridRefused (a ValueError with `field`), SweepRefused.
    """
    require(actor, Action.START_SWEEP)
    draft = Draft(
        deployment=deployment,
        profile=profile,
        layer=layer,
        base=base or Parameters(),
        grid=grid,
        guards=guards or {},
        cell_timeout_s=cell_timeout_s,
        max_failures=max_failures,
    )
    seed = secrets.randbelow(MOST_SEEDS) if seed is None else seed
    if not 0 <= seed < MOST_SEEDS:
        raise SweepRefused(f"The seed must be from 0 to {MOST_SEEDS - 1:,}.")
    planned = plan_sweep(draft, seed=seed)
    if len(planned.skipped) == len(planned.cells):
        raise SweepRefused(f"Every cell would be skipped. {planned.cells[0].skip_reason}")
    about = {
        "seed": seed,
        "note": note[:300],
        "requested_by": actor,
        "requested_by_name": actor.get_username(),
    }
    with transaction.atomic():
        sweep = store(draft, planned, about)
        transaction.on_commit(partial(doorbell.ring, sweep))
    return sweep


def store(draft: Draft, planned: Planned, about: dict[str, Any]) -> Sweep:
    """The sweep and its cells; of an external server the revision is fixed from the start."""
    revision, endpoint = (None, None) if draft.profile else external_target(draft)
    sweep = Sweep.objects.create(
        deployment=draft.deployment,
        profile=draft.profile,
        host=draft.deployment.host,
        endpoint=endpoint,
        layer=draft.layer,
        workload=draft.workload,
        base=asdict(draft.base),
        grid=draft.grid.as_dict(),
        guards=draft.guards,
        cell_timeout_s=draft.cell_timeout_s,
        max_failures=draft.max_failures,
        estimate=planned.estimate.as_dict(),
        **about,
    )
    SweepCell.objects.bulk_create(
        row(sweep, position, cell, revision.pk if revision else None)
        for position, cell in enumerate(planned.cells)
    )
    return sweep


def row(sweep: Sweep, position: int, cell: PlannedCell, revision_id: int | None) -> SweepCell:
    return SweepCell(
        sweep=sweep,
        position=position,
        revision_id=revision_id,
        state=CellState.SKIPPED if cell.skip_reason else CellState.WAITING,
        skip_reason=cell.skip_reason,
        **asdict(cell.place),
    )


def pause_sweep(*, actor: User, sweep: Sweep) -> None:
    """End it after the running cell and stop its server. Raises PermissionDenied, SweepRefused."""
    require(actor, Action.CONTROL_SWEEP)
    words = f"Paused by {actor.get_username()}."
    if claims.end_unclaimed(sweep.pk, (SweepState.PLANNED,), SweepState.PAUSED, words):
        return
    wish(sweep, Wish.PAUSE, words)


def resume_sweep(*, actor: User, sweep: Sweep) -> None:
    """Go on with what is not done yet, and take a pause back that has not come to pass.

    Raises PermissionDenied, SweepRefused.
    """
    require(actor, Action.CONTROL_SWEEP)
    if claims.end_unclaimed(sweep.pk, (SweepState.PAUSED,), SweepState.PLANNED, ""):
        transaction.on_commit(partial(doorbell.ring, sweep))
        return
    running = Sweep.objects.filter(pk=sweep.pk, state=SweepState.RUNNING, wish=Wish.PAUSE)
    if not running.update(wish=Wish.NONE, explanation=""):
        raise SweepRefused(f"Sweep #{sweep.pk} is not paused, so there is nothing to resume.")


def cancel_sweep(*, actor: User, sweep: Sweep) -> None:
    """End it for good: the running cell is broken off, finished ones stay.

    Raises PermissionDenied, SweepRefused.
    """
    require(actor, Action.CONTROL_SWEEP)
    words = f"Cancelled by {actor.get_username()}."
    still = (SweepState.PLANNED, SweepState.PAUSED)
    if claims.end_unclaimed(sweep.pk, still, SweepState.CANCELLED, words):
        return
    wish(sweep, Wish.CANCEL, words)


def wish(sweep: Sweep, what: Wish, words: str) -> None:
    """Its worker looks every few seconds. A pause does not take a cancel back."""
    running = Sweep.objects.filter(pk=sweep.pk, state=SweepState.RUNNING)
    changed = running.exclude(wish=Wish.CANCEL).update(wish=what, explanation=words)
    if not changed and not running.exists():
        raise SweepRefused(f"Sweep #{sweep.pk} does not run, so there is nothing to {what.label}.")
