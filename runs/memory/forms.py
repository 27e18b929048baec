"""What a person may ask of the planner."""

from __future__ import annotations

from django import forms

from catalog.models import Deployment, Host
from runs.memory.projection import CONTEXT_TARGET

MAX_SLOTS, MAX_CONTEXT, MAX_CACHE_GIB = 256, 10_000_000, 4096


class PlannerForm(forms.Form):
    """Slots x context of one deployment, and a prompt cache beside it."""

    deployment = forms.ModelChoiceField(Deployment.objects.none(), to_field_name="slug")
    slots = forms.IntegerField(min_value=1, max_value=MAX_SLOTS)
    context = forms.IntegerField(
        min_value=1, max_value=MAX_CONTEXT, label="Context per slot, tokens"
    )
    cache_gib = forms.FloatField(min_value=0, max_value=MAX_CACHE_GIB, label="Prompt cache, GiB")

    def __init__(self, host: Host, data: dict[str, str] | None = None) -> None:
        super().__init__(data, initial={"slots": 8, "context": CONTEXT_TARGET, "cache_gib": 0})
        field = self.fields["deployment"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = Deployment.objects.filter(host=host, is_archived=False)
