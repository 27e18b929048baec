"""A sweep: runs over a grid. Its row and its cells are all that a worker needs to go on."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from catalog.models import Deployment, Endpoint, Host, Layer, Revision
from runs.launch.models import Launch, LaunchProfile
from runs.models import Outcome, Run


class SweepState(models.TextChoices):
    """planned -> running -> finished; paused goes back to planned, a lost worker's sweep too."""

    PLANNED = "planned", "Waiting for its worker"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    FINISHED = "finished", "Finished"
    CANCELLED = "cancelled", "Cancelled"
    FAILED = "failed", "Stopped by its own rule"


OVER = (SweepState.FINISHED, SweepState.CANCELLED, SweepState.FAILED)


class Wish(models.TextChoices):
    """What somebody asked a running sweep to do; it looks between and during cells."""

    NONE = "", "go on"
    PAUSE = "pause", "pause"
    CANCEL = "cancel", "cancel"


class Workload(models.TextChoices):
    """What the clients of a cell ask for."""

    CHAT = "chat", "Chat"
    EMBEDDINGS = "embeddings", "Embeddings"
    RERANK = "rerank", "Rerank"


class Cache(models.TextChoices):
    FRESH = "fresh", "Fresh"
    REPEAT = "repeat", "Exact repeat"


class Sweep(models.Model):
    """One grid over one deployment through one layer. Without a profile somebody else runs the
    server, and runtime parallel is none of ours."""

    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="sweeps")
    profile = models.ForeignKey(
        LaunchProfile, null=True, blank=True, on_delete=models.PROTECT, related_name="sweeps"
    )
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="sweeps")
    endpoint = models.ForeignKey(
        Endpoint, null=True, blank=True, on_delete=models.PROTECT, related_name="+",
        help_text="of an externally run server; launched ones have their own",
    )  # fmt: skip
    layer = models.CharField(max_length=8, choices=Layer, default=Layer.DIRECT)
    workload = models.CharField(max_length=10, choices=Workload, default=Workload.CHAT)
    base = models.JSONField(
        default=dict, help_text="launch parameters of every cell: runs.launch.arguments.Parameters"
    )
    grid = models.JSONField(default=dict, help_text="runs.sweeps.grid.Grid.as_dict()")
    seed = models.PositiveIntegerField(help_text="of the order of cells")
    guards = models.JSONField(default=dict, blank=True, help_text="keys of runs.memory.budget")
    cell_timeout_s = models.PositiveIntegerField(default=900)
    max_failures = models.PositiveIntegerField(default=5, help_text="failed cells, then it ends")
    estimate = models.JSONField(default=dict, help_text="runs.sweeps.estimating.Estimate")
    state = models.CharField(max_length=9, choices=SweepState, default=SweepState.PLANNED)
    wish = models.CharField(max_length=6, choices=Wish, default=Wish.NONE, blank=True)
    explanation = models.TextField(blank=True, help_text="why it stands or ended as it does")
    note = models.CharField(max_length=300, blank=True)
    claim_token = models.CharField(max_length=32, blank=True)
    worker = models.CharField(max_length=120, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    rung_at = models.DateTimeField(null=True, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="sweeps"
    )
    requested_by_name = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state", "heartbeat_at"])]

    def __str__(self) -> str:
        return f"sweep {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def is_external(self) -> bool:
        """Somebody else runs the server: only client concurrency is swept."""
        return self.profile_id is None


class CellState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    SKIPPED = "skipped", "Skipped"
    FAILED = "failed", "Failed"


class SweepCell(models.Model):
    """One place of the grid, once. What it found is in `figures`, what proves it in `run`.

    `done` is a cell whose run ended, whatever its outcome; `failed` is one that has no run of
    its own, since its server did not start or our own machinery failed.
    """

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="cells")
    position = models.PositiveIntegerField(help_text="in the randomised order, from 0")
    runtime_parallel = models.PositiveIntegerField(
        null=True, blank=True, help_text="slots we launched; empty where somebody else runs it"
    )
    client_concurrency = models.PositiveIntegerField()
    prompt_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text="asked for; empty for embeddings and rerank"
    )
    cache = models.CharField(max_length=6, choices=Cache)
    repeat = models.PositiveIntegerField(default=0, help_text="from 0")
    revision = models.ForeignKey(
        Revision, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    launch = models.ForeignKey(
        Launch, null=True, blank=True, on_delete=models.SET_NULL, related_name="cells"
    )
    run = models.OneToOneField(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="sweep_cell"
    )
    state = models.CharField(max_length=7, choices=CellState, default=CellState.WAITING)
    skip_reason = models.TextField(blank=True)
    outcome = models.CharField(max_length=12, choices=Outcome, blank=True)
    failure_class = models.CharField(max_length=40, blank=True)
    explanation = models.TextField(blank=True)
    figures = models.JSONField(default=dict, blank=True, help_text="runs.sweeps.figures")
    attempts = models.PositiveIntegerField(default=0, help_text="more than 1 after a lost worker")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["sweep", "position"]
        constraints = [
            models.UniqueConstraint(fields=["sweep", "position"], name="sweep_cell_position"),
        ]

    def __str__(self) -> str:
        return f"{self.sweep} cell {self.position}"
