"""A pinned baseline: what a deployment once was, kept apart from what is active now."""

from __future__ import annotations

from django.db import models

from catalog.models import Deployment, Revision
from runs.models import Run


class Baseline(models.Model):
    """One run of one revision that later ones are held against. Nothing is inherited from it."""

    deployment = models.OneToOneField(
        Deployment, on_delete=models.CASCADE, related_name="baseline"
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    note = models.CharField(max_length=300, blank=True)
    by_name = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"baseline of {self.deployment}: run {self.run_id}"
