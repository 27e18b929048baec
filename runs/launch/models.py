"""How a runtime is started, and each time it was."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from catalog.models import Deployment, Endpoint, Host, Revision, Runtime
from runs.launch.arguments import Parameters
from runs.launch.process import Trace


class StopSignal(models.TextChoices):
    """What asks a server to end; a kill follows after the grace."""

    TERM = "SIGTERM", "SIGTERM"
    INT = "SIGINT", "SIGINT"


class LaunchProfile(models.Model):
    """Program, arguments with named places, environment, readiness and stop. Made by admins."""

    key = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    runtime = models.ForeignKey(Runtime, on_delete=models.PROTECT, related_name="profiles")
    program = models.CharField(max_length=300, help_text="{python} is this product's own Python")
    arguments = models.JSONField(default=list, help_text="one argument each, with {places}")
    extra_arguments = models.JSONField(default=list, blank=True, help_text="added at the end")
    variables = models.JSONField(default=dict, blank=True, help_text="name: value with {places}")
    inherited = models.JSONField(default=list, blank=True, help_text="names taken over")
    ready_s = models.PositiveIntegerField(default=120, help_text="until it must be ready")
    stop_signal = models.CharField(max_length=8, choices=StopSignal, default=StopSignal.TERM)
    grace_s = models.PositiveIntegerField(default=10, help_text="between signal and kill")
    memory_budget_mib = models.PositiveIntegerField(null=True, blank=True)
    by_hand = models.TextField(blank=True, help_text="why a worker cannot start it; empty: it can")
    note = models.TextField(blank=True)
    is_ready_made = models.BooleanField(default=False, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def templates(self) -> list[str]:
        """Every argument with its places, in order."""
        return [*self.arguments, *self.extra_arguments]


class LaunchState(models.TextChoices):
    STARTING = "starting", "Starting"
    READY = "ready", "Ready"
    STOPPED = "stopped", "Stopped"
    FAILED = "failed", "Did not start"
    CLEANED = "cleaned", "Cleaned up"


LIVING = (LaunchState.STARTING, LaunchState.READY)


class Launch(models.Model):
    """One start of a server by a worker. `mark`, process id and creation time tell it again
    after the worker's death."""

    profile = models.ForeignKey(LaunchProfile, on_delete=models.PROTECT, related_name="launches")
    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="launches")
    revision = models.ForeignKey(Revision, null=True, blank=True, on_delete=models.SET_NULL)
    endpoint = models.ForeignKey(Endpoint, null=True, blank=True, on_delete=models.SET_NULL)
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="launches")
    parameters = models.JSONField(default=dict)
    argv = models.JSONField(default=list)
    mark = models.CharField(max_length=32, unique=True)
    pid = models.PositiveIntegerField(null=True)
    pid_created_s = models.FloatField(null=True, help_text="epoch time")
    worker_pid = models.PositiveIntegerField()
    worker_created_s = models.FloatField(null=True, help_text="epoch time")
    state = models.CharField(max_length=8, choices=LaunchState, default=LaunchState.STARTING)
    failure_class = models.CharField(max_length=40, blank=True)
    explanation = models.TextField(blank=True)
    log_tail = models.JSONField(default=list, blank=True)
    load_ms = models.FloatField(null=True, help_text="from starting it to ready")
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"launch {self.pk}"

    @property
    def trace(self) -> Trace:
        return Trace(self.mark, self.pid, self.pid_created_s)

    @property
    def given(self) -> Parameters:
        return Parameters(**self.parameters)
