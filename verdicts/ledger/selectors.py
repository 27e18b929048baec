"""Reading the ledger."""

from __future__ import annotations

from django.db.models import QuerySet

from verdicts.ledger.models import Entry, EntryKind


def entries(*, kind: str = "", person: str = "", text: str = "") -> QuerySet[Entry]:
    """Newest first; filters that say nothing known are left out."""
    found = Entry.objects.order_by("-seq")
    if kind in EntryKind.values:
        found = found.filter(kind=kind)
    if person:
        found = found.filter(actor_name=person)
    if text:
        found = found.filter(title__icontains=text)
    return found


def people() -> list[str]:
    """Everybody who ever wrote an entry."""
    names = Entry.objects.order_by("actor_name").values_list("actor_name", flat=True)
    return list(names.distinct())


def entry_of(subject_kind: str, subject_id: int) -> Entry | None:
    """The newest entry about something."""
    about = Entry.objects.filter(subject_kind=subject_kind, subject_id=subject_id)
    return about.order_by("-seq").first()
