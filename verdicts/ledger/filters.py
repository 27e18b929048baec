"""The ledger's filters, as they stand in the address of the page and of the API."""

from __future__ import annotations

import django_filters

from verdicts.ledger.models import Entry, EntryKind


class EntryFilter(django_filters.FilterSet):
    kind = django_filters.ChoiceFilter(choices=EntryKind.choices)
    person = django_filters.CharFilter("actor_name", label="user name of who did it")
    deployment = django_filters.CharFilter("payload__deployment", label="slug of a deployment")
    since = django_filters.DateFilter("at", lookup_expr="date__gte", label="first day, UTC")
    until = django_filters.DateFilter("at", lookup_expr="date__lte", label="last day, UTC")
    text = django_filters.CharFilter("title", lookup_expr="icontains", label="part of the title")

    class Meta:
        model = Entry
        fields = ["kind", "person", "deployment", "since", "until", "text"]


class ApiEntryFilter(EntryFilter):
    class Meta(EntryFilter.Meta):
        fields = [*EntryFilter.Meta.fields, "subject_kind", "subject_id"]
