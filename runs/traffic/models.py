"""Completed requests that a proxy reports: apart from what we timed, in tables of their own.

Every figure here has the origin `server`: the proxy says so. None is mixed with a run's figures.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from catalog.models import Deployment, Layer, Revision
from runs.models import Outcome


class Batch(models.Model):
    """One delivery of records. `finished_at` empty: it broke off, and may be sent again."""

    deployment = models.ForeignKey(
        Deployment, on_delete=models.PROTECT, related_name="traffic_batches"
    )
    layer = models.CharField(max_length=8, choices=Layer)
    source = models.CharField(max_length=80, help_text="which proxy says so")
    received_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    by_name = models.CharField(max_length=150, blank=True)
    lines = models.PositiveIntegerField(default=0)
    accepted = models.PositiveIntegerField(default=0)
    duplicates = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    refusals = models.JSONField(
        default=list, blank=True, help_text="the first: [{line, why}], without what the line held"
    )
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of what was sent")

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["deployment", "-id"])]

    def __str__(self) -> str:
        return f"batch {self.pk}"


class Record(models.Model):
    """One request as the proxy saw it end, judged by our rules. Never changed once stored."""

    # The indexes below begin with these two, so they need none of their own.
    deployment = models.ForeignKey(
        Deployment, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    revision = models.ForeignKey(
        Revision,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="active when it ended",
    )
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="records")
    layer = models.CharField(max_length=8, choices=Layer)
    source = models.CharField(max_length=80)
    external_id = models.CharField(max_length=120)
    digest = models.CharField(max_length=32, help_text="of what was sent under this id")
    at = models.DateTimeField(help_text="when it ended")
    route = models.CharField(max_length=200)
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="HTTP")
    streamed = models.BooleanField()
    done_seen = models.BooleanField(null=True, blank=True, help_text="terminal SSE event")
    finish_reason = models.CharField(max_length=40, blank=True)
    ttft_ms = models.FloatField(null=True, blank=True)
    wall_ms = models.FloatField(null=True, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    error = models.CharField(max_length=200, blank=True)
    outcome = models.CharField(max_length=12, choices=Outcome)
    failure_class = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "source", "external_id"], name="traffic_record_once"
            )
        ]
        indexes = [
            models.Index(fields=["deployment", "layer", "-at", "-id"], name="traffic_by_time"),
            models.Index(
                fields=["deployment", "layer", "outcome", "-at", "-id"], name="traffic_by_outcome"
            ),
            models.Index(
                fields=["revision", "layer", "at", "outcome"], name="traffic_of_revision"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.external_id}"


class Hour(models.Model):
    """What the records of one hour add up to, so that a week is drawn from 168 rows.

    Kept in the transaction that stores the records.
    """

    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="+")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    layer = models.CharField(max_length=8, choices=Layer)
    start = models.DateTimeField()
    completed = models.PositiveIntegerField(default=0)
    not_completed = models.PositiveIntegerField(default=0)
    undecided = models.PositiveIntegerField(default=0)
    ttft_max_ms = models.FloatField(null=True, blank=True, help_text="of completed ones")
    ttft_counts = models.JSONField(
        default=dict, blank=True, help_text="completed ones by runs.traffic.histogram bucket"
    )

    class Meta:
        ordering = ["start"]
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "layer", "start"], name="traffic_hour_once"
            )
        ]
        indexes = [models.Index(fields=["deployment", "layer", "start"])]

    def __str__(self) -> str:
        return f"{self.deployment_id} {self.layer} {self.start:%Y-%m-%d %H}"
