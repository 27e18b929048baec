"""The run list's filters, as they stand in its address."""

from __future__ import annotations

import django_filters

from runs.models import Outcome, Run, RunState


class RunFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=RunState.choices, empty_label="Any state")
    outcome = django_filters.ChoiceFilter(choices=Outcome.choices, empty_label="Any outcome")
    deployment = django_filters.CharFilter("deployment__slug")
    suite = django_filters.CharFilter("suite__key")
    failure_class = django_filters.CharFilter("failure_class")

    class Meta:
        model = Run
        fields = ["state", "outcome", "deployment", "suite", "failure_class"]
