"""Campaigns: many short cycles over a long time. Their state is these rows and nothing else."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from catalog.models import Deployment, Endpoint, Host, Layer, Revision
from runs.models import Outcome, Run


class Kind(models.TextChoices):
    CANARY = "canary", "Canary"
    GATE = "gate", "24-hour gate"
    SOAK = "soak", "Seven-day soak"


class TrafficProfile(models.TextChoices):
    STEADY = "steady", "Steady: every cycle alike"
    DAYTIME = "daytime", "Daytime: busy by day, light at night"
    BURSTS = "bursts", "Bursts: now and then as many at once as admission allows"


class CampaignState(models.TextChoices):
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    PASSED = "passed", "Passed"
    FAILED = "failed", "Failed"
    ENDED = "ended", "Ended early"


OPEN = (CampaignState.RUNNING, CampaignState.PAUSED)


class Campaign(models.Model):
    """A canary, gate or soak of one revision through one layer.

    `terms` are fixed at the start (`runs.campaigns.standing.Terms`). A rehearsal is shorter than
    its kind asks for, says so everywhere, and is never evidence.
    """

    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="campaigns")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="campaigns")
    revision_fingerprint = models.CharField(max_length=64)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="+")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="campaigns")
    layer = models.CharField(max_length=8, choices=Layer)
    kind = models.CharField(max_length=6, choices=Kind)
    is_rehearsal = models.BooleanField(default=False)
    terms = models.JSONField(help_text="runs.campaigns.standing.Terms")
    mix = models.JSONField(default=list, help_text="runs.campaigns.mix.Part, in order")
    profile = models.CharField(max_length=8, choices=TrafficProfile, default=TrafficProfile.STEADY)
    seed = models.PositiveIntegerField(help_text="of the jitter")
    state = models.CharField(max_length=8, choices=CampaignState, default=CampaignState.RUNNING)
    explanation = models.TextField(blank=True, help_text="why it ended as it did")
    note = models.CharField(max_length=300, blank=True)
    identity = models.JSONField(default=dict, blank=True, help_text="as the first cycle saw it")
    started_at = models.DateTimeField()
    ends_at = models.DateTimeField(help_text="not before this")
    finished_at = models.DateTimeField(null=True, blank=True)
    watched_at = models.DateTimeField(null=True, blank=True, help_text="by the wall clock")
    watched_boot_s = models.FloatField(
        null=True, blank=True, help_text="the same moment by a clock that nobody sets"
    )
    watched_boot_id = models.CharField(max_length=64, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="campaigns"
    )
    requested_by_name = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state"]), models.Index(fields=["deployment", "-id"])]
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "layer", "kind"],
                condition=models.Q(state__in=["running", "paused"]),
                name="one_open_campaign_of_a_kind",
            )
        ]

    def __str__(self) -> str:
        return f"campaign {self.pk}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


class CycleState(models.TextChoices):
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    MISSED = "missed", "Missed"


class Cycle(models.Model):
    """What was due at one moment of a campaign, once. A missed one is a row too.

    Figures are of this cycle's own requests, client-measured; empty where it had none.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="cycles")
    number = models.PositiveIntegerField(help_text="from 0; its slot is number x cycle length")
    due_at = models.DateTimeField(help_text="with its jitter")
    state = models.CharField(max_length=7, choices=CycleState, default=CycleState.RUNNING)
    part = models.CharField(max_length=20, blank=True, help_text="of the mix")
    run = models.OneToOneField(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="cycle"
    )
    outcome = models.CharField(max_length=12, choices=Outcome, blank=True)
    failure_class = models.CharField(max_length=40, blank=True)
    explanation = models.TextField(blank=True)
    worker = models.CharField(max_length=120, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    requests = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)
    ttft_ms = models.FloatField(null=True, blank=True, help_text="median, short and fresh")
    ttft_max_ms = models.FloatField(null=True, blank=True)
    decode_tps = models.FloatField(null=True, blank=True, help_text="median")
    rss_before_bytes = models.BigIntegerField(null=True, blank=True)
    rss_peak_bytes = models.BigIntegerField(null=True, blank=True)
    rss_after_bytes = models.BigIntegerField(null=True, blank=True)
    queued_max = models.PositiveIntegerField(null=True, blank=True, help_text="server-reported")
    server_started_at = models.FloatField(
        null=True, blank=True, help_text="of the server's process, seconds since 1970"
    )
    identity = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["campaign", "number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="cycle_once"),
        ]
        indexes = [
            models.Index(fields=["state"]),
            models.Index(fields=["campaign", "outcome", "number"]),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} cycle {self.number}"


class NoteKind(models.TextChoices):
    STARTED = "started", "Started"
    PAUSED = "paused", "Paused"
    RESUMED = "resumed", "Resumed"
    EXTENDED = "extended", "Extended"
    HANDED_OVER = "handed_over", "Handed over"
    GAP = "gap", "Gap"
    CLOCK_JUMP = "clock_jump", "Clock jump"
    SERVER_RESTART = "server_restart", "Server restarted"
    WORKER_LOST = "worker_lost", "Worker lost"
    IDENTITY_CHANGED = "identity_changed", "Identity changed"
    FINISHED = "finished", "Finished"


class CampaignNote(models.Model):
    """One thing that happened to a campaign beside its cycles."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="notes")
    kind = models.CharField(max_length=16, choices=NoteKind)
    at = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True, help_text="of a pause or a jump")
    text = models.TextField(blank=True)
    by_name = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["campaign", "at", "pk"]
        indexes = [models.Index(fields=["campaign", "at"])]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.kind}"
