"""Who uses the lab. Roles are Django groups; what each may do is in `people.access`."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

from people.scopes import Scope


class User(AbstractUser):
    """A person. Created with a one-time password, which the first log-in replaces."""

    must_change_password = models.BooleanField(default=False)

    # Set by token authentication for one request; None: not limited by a token.
    token_scopes: frozenset[Scope] | None = None


class ApiToken(models.Model):
    """Lets a program act for a person, within scopes and until a date. Only its hash is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80, help_text="what uses it")
    start = models.CharField(max_length=12, help_text="its first characters, to tell it by")
    digest_sha256 = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"

    @property
    def state(self) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if self.expires_at > timezone.now() else "expired"


class IdempotentAnswer(models.Model):
    """What a start answered, so that the same key asked again starts nothing twice."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=100)
    request_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    body = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_key")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.key}"
