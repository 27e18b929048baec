"""What is still to be done about deployments, and everything that was said and done about it."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from catalog.choices import Origin


class FollowUp(models.Model):
    """Something to be done, tied to deployments (none: to every one), closed by evidence.

    `closed_by_run` is a number only, since runs are built upon the catalog and not the reverse.
    """

    text = models.TextField()
    deployments = models.ManyToManyField(
        "catalog.Deployment", blank=True, related_name="follow_ups"
    )
    is_open = models.BooleanField(default=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.MANUAL)
    reported_on = models.DateField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    failure_class = models.CharField(
        max_length=40, blank=True, help_text="met again by a later run, it reopens"
    )
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="follow_ups",
    )
    due_on = models.DateField(null=True, blank=True)
    opened_at = models.DateTimeField(
        null=True, blank=True, help_text="last reopened; earlier runs prove nothing"
    )
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by_run = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-is_open", "pk"]
        indexes = [models.Index(fields=["failure_class", "is_open"])]

    def __str__(self) -> str:
        return self.text[:80]


class EntryKind(models.TextChoices):
    RAISED = "raised", "Raised"
    COMMENT = "comment", "Comment"
    PLANNED = "planned", "Planned"
    SEEN_AGAIN = "seen_again", "Seen again"
    CLOSED = "closed", "Closed"
    REOPENED = "reopened", "Reopened"


class FollowUpEntry(models.Model):
    """One line of a follow-up's history. Never changed, so that it can be relied on."""

    follow_up = models.ForeignKey(FollowUp, on_delete=models.CASCADE, related_name="entries")
    kind = models.CharField(max_length=10, choices=EntryKind)
    text = models.TextField(blank=True)
    path = models.CharField(max_length=300, blank=True, help_text="of the page it is about")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    by_name = models.CharField(max_length=150, blank=True, help_text="empty: noted by itself")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.follow_up_id} {self.kind}"
