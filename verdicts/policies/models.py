"""Policies: versions of the gates of a role; and waivers, which stay visible for good."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from catalog.models import Revision
from verdicts.policies.gates import Gate


class Role(models.TextChoices):
    AGENT_ROUTE = "agent_route", "agent route"
    SPECIALIST = "specialist", "specialist"
    TOOL_CODING = "tool_coding", "tool / coding"
    EMBEDDING_POOLING = "embedding_pooling", "embedding pooling"
    RERANK_POOLING = "rerank_pooling", "rerank pooling"


class PolicyVersion(models.Model):
    """The gates of a role from one moment on. A change is a new version."""

    role = models.CharField(max_length=20, choices=Role)
    number = models.PositiveIntegerField()
    gates = models.JSONField(help_text="verdicts.policies.gates.Gate, in order")
    approvals_needed = models.PositiveSmallIntegerField(default=1)
    days_to_decide = models.PositiveSmallIntegerField(default=7)
    note = models.CharField(max_length=300, blank=True, help_text="why it was changed")
    is_current = models.BooleanField(default=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    author_name = models.CharField(max_length=150)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["role", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["role", "number"], name="policy_version"),
            models.UniqueConstraint(
                fields=["role"],
                condition=models.Q(is_current=True),
                name="one_current_policy_of_a_role",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_role_display()} v{self.number}"

    @property
    def gate_list(self) -> list[Gate]:
        return [Gate.from_dict(stored) for stored in self.gates]


class Waiver(models.Model):
    """Somebody lets one gate be, for one revision and role, until a day, and says why."""

    role = models.CharField(max_length=20, choices=Role)
    gate_key = models.CharField(max_length=40)
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="waivers")
    reason = models.TextField()
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    person_name = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by_name = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["revision", "role"])]

    def __str__(self) -> str:
        return f"{self.gate_key} of {self.revision}"
