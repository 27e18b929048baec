"""What we decided about a deployment, and why. A verdict is added, never edited."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from catalog.models import Deployment, Origin, Revision


class VerdictState(models.TextChoices):
    PRIMARY = "primary", "Primary"
    CANDIDATE = "candidate", "Candidate"
    BLOCKED = "blocked", "Blocked"
    REJECTED = "rejected", "Rejected"


class Verdict(models.Model):
    """A decision with role, label, reason, author and time. The newest one holds."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="verdicts")
    revision = models.ForeignKey(
        Revision,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="verdicts",
        help_text="that a primary was judged at; a later one starts at zero",
    )
    state = models.CharField(max_length=10, choices=VerdictState)
    role = models.CharField(max_length=120, blank=True)
    label = models.CharField(max_length=200, blank=True)
    reason = models.TextField(blank=True)
    failure_class = models.CharField(max_length=40, blank=True)
    unblocks_when = models.CharField(
        max_length=200, blank=True, help_text="what would end the block, such as: artifact found"
    )
    former = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="the primary whose place this one took",
    )
    successor = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="the primary that took this one's place",
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    author_name = models.CharField(max_length=150, help_text="kept when the person is gone")
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.MANUAL)
    decided_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-decided_at", "-pk"]
        indexes = [models.Index(fields=["deployment", "-decided_at"])]

    def __str__(self) -> str:
        return f"{self.deployment}: {self.state}"
