"""What is worth telling, who is told, and how far each webhook has got with it."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from catalog.addresses import validate_address
from catalog.models import Deployment


class Kind(models.TextChoices):
    RUN_FINISHED = "run_finished", "Run finished"
    GUARD_TRIPPED = "guard_tripped", "Guard tripped"
    CAMPAIGN_FAILING = "campaign_failing", "Campaign failing"
    CAMPAIGN_GAP = "campaign_gap", "Gap in a campaign"
    PROMOTION_REQUESTED = "promotion_requested", "Promotion requested"
    PROMOTION_DECIDED = "promotion_decided", "Promotion decided"
    EVIDENCE_STALE = "evidence_stale", "Evidence about to go stale"


class Notice(models.Model):
    """Something that happened, in words. Written in the transaction of what happened."""

    kind = models.CharField(max_length=24, choices=Kind)
    key = models.CharField(max_length=120, unique=True, help_text="so that nothing is told twice")
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    path = models.CharField(max_length=300, help_text="of the page about it")
    deployment = models.ForeignKey(
        Deployment, null=True, blank=True, on_delete=models.CASCADE, related_name="notices"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.title


class InboxItem(models.Model):
    """A notice in one person's inbox."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="inbox"
    )
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="told")
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["user", "notice"], name="told_once")]
        indexes = [models.Index(fields=["user", "read_at"])]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.notice_id}"


class Subscription(models.Model):
    """One person wants one kind of notice, of one deployment or of all."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="subscriptions"
    )
    kind = models.CharField(max_length=24, choices=Kind)
    deployment = models.ForeignKey(
        Deployment, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )

    class Meta:
        ordering = ["kind", "deployment"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "kind", "deployment"],
                name="subscribed_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.kind}"


class Webhook(models.Model):
    """An address that an admin registered. Its secret is in the environment, never here."""

    name = models.CharField(max_length=80, unique=True)
    url = models.CharField(max_length=300, validators=[validate_address])
    secret_env = models.CharField(
        max_length=80,
        validators=[
            RegexValidator(r"\A[A-Za-z_][A-Za-z0-9_]*\Z", "Give the name, never the key.")
        ],
        help_text="NAME of the environment variable with the signing secret",
    )
    kinds = models.JSONField(default=list, help_text="of what it is told")
    deployment = models.ForeignKey(
        Deployment, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    is_active = models.BooleanField(default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class DeliveryState(models.TextChoices):
    PENDING = "pending", "Waiting"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Given up"


class Delivery(models.Model):
    """One notice on its way to one webhook. What is due is decided by this row."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    tried_at = models.DateTimeField(null=True)
    http_status = models.PositiveIntegerField(null=True)
    seen = models.CharField(max_length=300, blank=True, help_text="at the last attempt")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["webhook", "notice"], name="delivered_once")
        ]
        indexes = [models.Index(fields=["state", "due_at"])]

    def __str__(self) -> str:
        return f"{self.notice_id} to {self.webhook_id}"
