"""Reading the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from catalog.models import Deployment
from verdicts.ledger.models import Entry


@dataclass(frozen=True, slots=True)
class Page:
    """Newest first. `older` is the number that the next page goes on before, if there is one."""

    entries: list[Entry]
    older: int | None = None


def page_of(found: QuerySet[Entry], *, before: int | None, size: int) -> Page:
    """Read from a number on, however long the ledger is, and however it grows meanwhile."""
    if before is not None:
        found = found.filter(seq__lt=before)
    rows = list(found.order_by("-seq")[: size + 1])
    return Page(rows[:size], rows[size - 1].seq if len(rows) > size else None)


def people() -> list[str]:
    """Everybody who ever wrote an entry."""
    names = Entry.objects.order_by("actor_name").values_list("actor_name", flat=True)
    return list(names.distinct())


def deployments() -> list[tuple[str, str]]:
    """Slugs and canonical routes."""
    return list(Deployment.objects.values_list("slug", "canonical_route"))


def entry_of(subject_kind: str, subject_id: int) -> Entry | None:
    """The newest entry about something."""
    about = Entry.objects.filter(subject_kind=subject_kind, subject_id=subject_id)
    return about.order_by("-seq").first()
