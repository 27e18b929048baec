"""The ledger's filters, as they stand in the address of the page and of the API."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import django_filters

from verdicts.ledger.models import Entry, EntryKind, EntryQuerySet


class EntryFilter(django_filters.FilterSet):
    kind = django_filters.ChoiceFilter(choices=EntryKind.choices)
    person = django_filters.CharFilter("actor_name", label="user name of who did it")
    deployment = django_filters.CharFilter(method="about", label="slug of a deployment")
    since = django_filters.DateFilter(method="from_day", label="first day, UTC")
    until = django_filters.DateFilter(method="to_day", label="last day, UTC")
    text = django_filters.CharFilter("title", lookup_expr="icontains", label="part of the title")

    class Meta:
        model = Entry
        fields = ["kind", "person", "deployment", "since", "until", "text"]

    def about(self, found: EntryQuerySet, name: str, slug: str) -> EntryQuerySet:
        return found.about(slug)

    def from_day(self, found: EntryQuerySet, name: str, day: date) -> EntryQuerySet:
        return found.filter(at__gte=datetime.combine(day, time.min, UTC))

    def to_day(self, found: EntryQuerySet, name: str, day: date) -> EntryQuerySet:
        return found.filter(at__lte=datetime.combine(day, time.max, UTC))


class ApiEntryFilter(EntryFilter):
    class Meta(EntryFilter.Meta):
        fields = [*EntryFilter.Meta.fields, "subject_kind", "subject_id"]
