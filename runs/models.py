"""Runs, their requests and their numbered event log. The database is the truth."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from catalog.models import Deployment, Endpoint, Host, Layer, Revision
from runs.launch.models import Launch as Launch
from runs.launch.models import LaunchProfile as LaunchProfile
from runs.memory.models import GrowthPoint as GrowthPoint
from runs.memory.models import SeriesChunk as SeriesChunk


class Outcome(models.TextChoices):
    """Mirrors `runs.engine.outcomes.Outcome`, with words for people."""

    CLEAN_PASS = "clean_pass", "Clean pass"
    DEGRADED = "degraded", "Degraded"
    INCONCLUSIVE = "inconclusive", "Inconclusive"
    FAIL = "fail", "Fail"


class Suite(models.Model):
    """A named list of checks with parameters. Editing one makes a new version."""

    key = models.SlugField()
    version = models.PositiveIntegerField(default=1)
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True)
    checks = models.JSONField(help_text='[{"key": "marker", "params": {}}, ...]')
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )

    class Meta:
        ordering = ["key", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["key", "version"], name="suite_version"),
            models.UniqueConstraint(
                fields=["key"],
                condition=models.Q(is_current=True),
                name="one_current_suite_version",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class RunState(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"


class Run(models.Model):
    """One execution of a suite against one revision through one layer.

    queued -> running -> finished, each step a conditional update. A cancel is a flag that the
    run looks at; a worker that stops beating leaves the run to the reaper (`interrupted`).
    """

    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="runs")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="runs")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="+")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="runs")
    layer = models.CharField(max_length=8, choices=Layer)
    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="runs")
    plan = models.JSONField(help_text="runs.engine.plan.Plan.as_dict()")
    revision_fingerprint = models.CharField(max_length=64)
    code_version = models.CharField(max_length=40)
    state = models.CharField(max_length=8, choices=RunState, default=RunState.QUEUED)
    outcome = models.CharField(max_length=12, choices=Outcome, blank=True)
    failure_class = models.CharField(max_length=40, blank=True)
    explanation = models.TextField(blank=True)
    report = models.JSONField(default=dict, blank=True, help_text="checks, identity, instrument")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="runs"
    )
    requested_by_name = models.CharField(max_length=150, blank=True)
    repeats = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="repeated_by"
    )
    planned_requests = models.PositiveIntegerField(default=0)
    note = models.CharField(max_length=300, blank=True)
    claim_token = models.CharField(max_length=32, blank=True)
    worker = models.CharField(max_length=120, blank=True)
    rung_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["state", "heartbeat_at"]),
            models.Index(fields=["deployment", "-id"]),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def took_s(self) -> float | None:
        """From start to end, in seconds; None for a run that did not start or is not over."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


class RunRequest(models.Model):
    """One HTTP exchange inside a run. Times are client-measured, in ms from sending it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="requests")
    index = models.PositiveIntegerField()
    check_key = models.CharField(max_length=40)
    label = models.CharField(max_length=200)
    streamed = models.BooleanField()
    cache = models.CharField(max_length=8)
    client_concurrency = models.PositiveIntegerField(default=1)
    outcome = models.CharField(max_length=12, choices=Outcome)
    failure_class = models.CharField(max_length=40, blank=True)
    explanation = models.TextField(blank=True)
    started_offset_ms = models.FloatField(default=0)
    ttft_ms = models.FloatField(null=True, blank=True)
    end_ms = models.FloatField(null=True, blank=True)
    decode_tps = models.FloatField(null=True, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    cached_tokens = models.PositiveIntegerField(null=True, blank=True)
    record = models.JSONField(help_text="RequestResult.as_dict() without the token offsets")
    token_offsets = models.BinaryField(
        default=bytes, help_text="zlib of little-endian uint32 offsets of each chunk, in us"
    )

    class Meta:
        ordering = ["run", "index"]
        constraints = [
            models.UniqueConstraint(fields=["run", "index"], name="request_index"),
        ]

    def __str__(self) -> str:
        return f"{self.run} request {self.index}"

    @property
    def ttft_missing(self) -> str:
        """Why there is no TTFT, where there is none."""
        return "no token came" if self.streamed else "not streamed, so only the whole was timed"


class RunEvent(models.Model):
    """One line of a run's log, numbered from 1 without gaps. Following is reading after N."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    t_ms = models.FloatField(help_text="since the run started")
    kind = models.CharField(max_length=24)
    payload = models.JSONField()

    class Meta:
        ordering = ["run", "seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="event_seq")]

    def __str__(self) -> str:
        return f"{self.run} #{self.seq} {self.kind}"


class HostLease(models.Model):
    """One measuring run per host at a time, since runs disturb each other."""

    host = models.OneToOneField(Host, on_delete=models.CASCADE, related_name="lease")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.SET_NULL)
    token = models.CharField(max_length=32, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"lease of {self.host}"


class WorkerBeat(models.Model):
    """A worker that is alive, and the host whose queue it takes."""

    name = models.CharField(max_length=120, unique=True)
    host_key = models.SlugField()
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
