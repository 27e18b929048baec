"""Starting a campaign, and letting it last longer."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.models import Deployment
from runs.campaigns.kinds import SHORTEST_CYCLE_S, TERMS
from runs.campaigns.mix import Basis, basis_for
from runs.campaigns.models import Kind, TrafficProfile


class CampaignForm(forms.Form):
    """`given` is what `services.start_campaign` takes."""

    kind = forms.ChoiceField(choices=Kind.choices, label="Kind")
    layer = forms.ChoiceField(choices=(), label="Layer")
    basis = forms.ChoiceField(choices=Basis.choices, label="What it asks")
    profile = forms.ChoiceField(choices=TrafficProfile.choices, label="Traffic")
    rehearsal_min = forms.IntegerField(
        required=False, min_value=1, max_value=600, label="Rehearsal",
        help_text="minutes; leave it empty for the real one. A rehearsal never counts.",
    )  # fmt: skip
    cycle_s = forms.IntegerField(
        required=False, min_value=SHORTEST_CYCLE_S, max_value=600, label="A cycle every",
        help_text="seconds; empty: the usual of its kind",
    )  # fmt: skip
    note = forms.CharField(required=False, max_length=300, label="Note")

    def __init__(self, deployment: Deployment, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        layers = deployment.endpoints.filter(is_active=True).values_list("layer", flat=True)
        choices = [(layer, layer) for layer in layers]
        self.fields["layer"] = forms.ChoiceField(choices=choices, label="Layer")
        self.fields["basis"].initial = basis_for(deployment.artifact.task)

    def given(self) -> dict[str, Any]:
        typed = dict(self.cleaned_data)
        minutes = typed.pop("rehearsal_min")
        return {**typed, "rehearsal_s": minutes * 60 if minutes else None}


class ExtendForm(forms.Form):
    hours = forms.FloatField(min_value=0.02, max_value=24 * 60, label="Hours longer")


def kinds_in_words() -> list[tuple[str, str]]:
    """What each kind takes and allows."""
    return [
        (
            Kind(kind).label,
            f"{terms.duration_s / 3600:g} h, a cycle every {terms.cycle_s} s, "
            f"{terms.failure_budget} cycles may fail, {terms.min_coverage:.0%} must be covered, "
            f"no gap over {terms.max_gap_s // 60} min",
        )
        for kind, terms in TERMS.items()
    ]
