"""Pinning a baseline and letting it go."""

from __future__ import annotations

from django.utils import timezone

from catalog.models import Deployment
from people.access import Action, require
from people.models import User
from runs.compare.models import Baseline
from runs.models import Outcome, Run


class BaselineRefused(ValueError):
    """A run cannot be a baseline; the message says why."""


def pin_baseline(*, actor: User, run: Run, note: str = "") -> Baseline:
    """Hold later runs of the deployment against this one.

    Raises PermissionDenied, or BaselineRefused for a run that was no clean pass.
    """
    require(actor, Action.PIN_BASELINE)
    if run.outcome != Outcome.CLEAN_PASS:
        raise BaselineRefused(
            f"Run #{run.pk} was no clean pass, so nothing should be held against it."
        )
    pinned, _ = Baseline.objects.update_or_create(
        deployment=run.deployment,
        defaults={
            "run": run,
            "revision": run.revision,
            "note": note[:300],
            "by_name": actor.get_username(),
            "at": timezone.now(),
        },
    )
    return pinned


def unpin_baseline(*, actor: User, deployment: Deployment) -> None:
    require(actor, Action.PIN_BASELINE)
    Baseline.objects.filter(deployment=deployment).delete()
