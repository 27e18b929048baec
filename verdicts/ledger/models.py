"""The entries, the head that says how many there are, and what the last verification found."""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models


class LedgerIsAppendOnly(Exception):
    """Somebody tried to change or delete an entry."""


class EntryKind(models.TextChoices):
    VERDICT = "verdict", "Verdict"
    REQUEST = "request", "Promotion request"
    APPROVAL = "approval", "Decision on a request"
    ROLLBACK = "rollback", "Rollback"
    WAIVER = "waiver", "Waiver"
    POLICY = "policy", "Policy"
    EVIDENCE = "evidence", "Evidence counted"


class DeploymentOf(models.Func):
    """The deployment that a payload names, written as its index has it: text in both databases."""

    template = "json_extract(%(expressions)s, '$.deployment')"
    output_field = models.CharField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "(%(expressions)s ->> 'deployment')"
        return super().as_sql(compiler, connection, template=template, **context)


class EntryQuerySet(models.QuerySet["Entry"]):
    """Reads only. The database refuses too, by triggers of the migrations."""

    def about(self, slug: str) -> EntryQuerySet:
        """Of one deployment."""
        return self.alias(deployment=DeploymentOf("payload")).filter(deployment=slug)

    def update(self, **changes: Any) -> NoReturn:
        raise LedgerIsAppendOnly("An entry of the ledger never changes.")

    def delete(self) -> NoReturn:
        raise LedgerIsAppendOnly("An entry of the ledger is never deleted.")


class Entry(models.Model):
    """One entry. `entry_hash` covers every field above it.

    The person stands here by user name, which is unique: a foreign key would have to be emptied
    when the person is deleted, and nothing here may change.
    """

    seq = models.PositiveBigIntegerField(unique=True, help_text="from 1, without gaps")
    kind = models.CharField(max_length=12, choices=EntryKind)
    at = models.DateTimeField()
    actor_name = models.CharField(max_length=150, help_text="stays when the person is gone")
    subject_kind = models.CharField(max_length=20)
    subject_id = models.PositiveBigIntegerField()
    title = models.CharField(max_length=300)
    path = models.CharField(max_length=300, blank=True, help_text="of the page about it")
    payload = models.JSONField()
    content_digest = models.CharField(max_length=64, help_text="SHA-256 of the payload")
    previous_hash = models.CharField(max_length=64)
    entry_hash = models.CharField(max_length=64, unique=True)

    objects = EntryQuerySet.as_manager()

    class Meta:
        ordering = ["-seq"]
        indexes = [
            models.Index(fields=["kind", "-seq"]),
            models.Index(fields=["actor_name", "-seq"]),
            models.Index(fields=["subject_kind", "subject_id"]),
            models.Index(
                DeploymentOf("payload"), models.F("seq").desc(), name="ledger_entry_deployment"
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.seq} {self.title}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise LedgerIsAppendOnly("An entry of the ledger never changes.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise LedgerIsAppendOnly("An entry of the ledger is never deleted.")


class Head(models.Model):
    """One row, locked by whoever appends: entries that were cut off at the end are missed here."""

    count = models.PositiveBigIntegerField(default=0)
    last_hash = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.count} entries"


class Verification(models.Model):
    """What a reading of the whole chain found."""

    at = models.DateTimeField()
    entries = models.PositiveBigIntegerField()
    head_hash = models.CharField(max_length=64)
    broken_seq = models.PositiveBigIntegerField(null=True, blank=True)
    why = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.why or f"{self.entries} entries verified"

    @property
    def is_whole(self) -> bool:
        return not self.why
