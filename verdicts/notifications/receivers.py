"""Turns what runs and campaigns signal into notices, in the same transaction."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.urls import reverse

from runs.models import Run
from verdicts.notifications.models import Kind
from verdicts.notifications.services import publish


def on_run_finished(sender: object, run_id: int, **_: Any) -> None:
    """A savepoint of its own: telling must never cost a run its result."""
    with transaction.atomic():
        run = Run.objects.select_related("deployment__artifact", "suite", "requested_by").get(
            pk=run_id
        )
        kinds = [Kind.RUN_FINISHED]
        if run.failure_class == "memory_guard":
            kinds.append(Kind.GUARD_TRIPPED)
        for kind in kinds:
            publish(kind=kind, key=str(run.pk), **_told(run, kind))


def _told(run: Run, kind: Kind) -> dict[str, Any]:
    said = f"{run.get_outcome_display()}: {run.suite.name} on {run.deployment}"
    return {
        "title": f"Guard tripped: {run.deployment}" if kind == Kind.GUARD_TRIPPED else said,
        "text": run.explanation,
        "path": reverse("run-detail", args=[run.pk]),
        "deployment": run.deployment,
        "people": [run.requested_by] if run.requested_by else [],
    }


def on_happened(sender: object, **told: Any) -> None:
    """Whatever is told with the words of `publish`, from code that may not import it."""
    told.pop("signal", None)
    with transaction.atomic():
        publish(**told)
