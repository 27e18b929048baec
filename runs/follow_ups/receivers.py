"""Failures open follow-ups, in the transaction that stores the failure."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from runs.follow_ups.services import after_failing_campaign, after_run
from runs.models import Run

CAMPAIGN_FAILING = "campaign_failing"  # as campaigns tell it


def on_run_finished(sender: object, run_id: int, **_: Any) -> None:
    """A savepoint of its own: this must never cost a run its result."""
    with transaction.atomic():
        after_run(Run.objects.select_related("deployment").get(pk=run_id))


def on_happened(sender: object, kind: str, **told: Any) -> None:
    if kind != CAMPAIGN_FAILING or not told.get("deployment"):
        return
    with transaction.atomic():
        after_failing_campaign(
            deployment=told["deployment"],
            title=told["title"],
            text=told.get("text", ""),
            path=told["path"],
        )
