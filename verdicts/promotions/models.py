"""Requests for promotion, what people decided on them, and the one primary of each role."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models

from catalog.models import Deployment, Revision
from verdicts.models import Verdict
from verdicts.policies.models import Role


class EvaluationRecord(models.Model):
    """An evaluation as somebody saw it, kept once under the digest of what it says."""

    digest = models.CharField(max_length=64, unique=True)
    body = models.JSONField(help_text="verdicts.promotions.evaluating.as_body()")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.digest[:12]


class RequestState(models.TextChoices):
    OPEN = "open", "Open"
    NEEDS_MORE = "needs_more", "Needs more"
    APPROVED = "approved", "Approved"
    REJECTED = "rejected", "Rejected"
    WITHDRAWN = "withdrawn", "Withdrawn"
    EXPIRED = "expired", "Expired"
    SUPERSEDED = "superseded", "Superseded"
    ROLLED_BACK = "rolled_back", "Rolled back"


UNDECIDED = (RequestState.OPEN, RequestState.NEEDS_MORE)


class PromotionRequest(models.Model):
    """Somebody asks that one revision becomes primary for one role.

    `evaluation` is as it was when asked; each decision names the one that its person reviewed.
    """

    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, related_name="promotions")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="promotions")
    role = models.CharField(max_length=20, choices=Role)
    evaluation = models.ForeignKey(EvaluationRecord, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    planned_route = models.CharField(max_length=200, help_text="the name that clients will send")
    requester = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    requester_name = models.CharField(max_length=150)
    state = models.CharField(max_length=12, choices=RequestState, default=RequestState.OPEN)
    explanation = models.TextField(blank=True, help_text="why it ended as it did")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    given = models.OneToOneField(
        Verdict,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="promotion",
        help_text="the primary verdict that it ended in",
    )
    replaced = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="the request that was in force before",
    )

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state", "expires_at"])]
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "role"],
                condition=models.Q(state__in=["open", "needs_more"]),
                name="one_open_request_for_a_role",
            )
        ]

    def __str__(self) -> str:
        return f"promotion request {self.pk}"

    @property
    def is_undecided(self) -> bool:
        return self.state in UNDECIDED

    @property
    def waived_gates(self) -> list[dict[str, Any]]:
        """What was waived when it was decided on: it stays visible for good."""
        last = self.decisions.filter(kind=DecisionKind.APPROVE).last()
        gates = (last.evaluation if last else self.evaluation).body["gates"]
        return [gate for gate in gates if gate["state"] == "waived"]

    def is_over(self, at: datetime) -> bool:
        """Whether the time to decide has run out."""
        return self.expires_at <= at


class DecisionKind(models.TextChoices):
    APPROVE = "approve", "Approved"
    REJECT = "reject", "Rejected"
    ASK_MORE = "ask_more", "Asked for more"
    ANSWER = "answer", "Answered"


class Decision(models.Model):
    """What one person said about a request, and which evaluation they had before them."""

    request = models.ForeignKey(
        PromotionRequest, on_delete=models.PROTECT, related_name="decisions"
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    person_name = models.CharField(max_length=150)
    kind = models.CharField(max_length=8, choices=DecisionKind)
    comment = models.TextField(blank=True)
    evaluation = models.ForeignKey(EvaluationRecord, on_delete=models.PROTECT, related_name="+")
    is_single_person = models.BooleanField(
        default=False, help_text="given in single-person mode by the requester"
    )
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.person_name}: {self.kind}"


class PrimarySlot(models.Model):
    """Who is primary for a role. It changes by compare-and-set on `version` only.

    `promotion` stays when its primary is blocked or retired, so that it can be rolled back.
    """

    role = models.CharField(max_length=20, choices=Role, unique=True)
    verdict = models.ForeignKey(
        Verdict, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    promotion = models.ForeignKey(
        PromotionRequest, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    version = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["role"]

    def __str__(self) -> str:
        return f"primary for {self.role}"
