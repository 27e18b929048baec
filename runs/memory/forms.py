"""What a person may ask of the planner."""

from __future__ import annotations

from django import forms

from catalog.models import Deployment, Host
from runs.engine.guards import GIB, Limits
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


class GuardForm(forms.Form):
    """A run's own memory limits; what is left empty keeps its default."""

    process_limit_gib = forms.FloatField(
        required=False, min_value=0.01, max_value=MAX_CACHE_GIB, label="Process limit, GiB"
    )
    available_floor_gib = forms.FloatField(
        required=False, min_value=0.01, max_value=MAX_CACHE_GIB, label="Kept free, GiB"
    )
    growth_limit_mib_per_s = forms.FloatField(
        required=False, min_value=1, max_value=1_000_000, label="Growth limit, MiB/s"
    )

    @classmethod
    def showing(cls, limits: Limits) -> GuardForm:
        """Empty fields with the defaults behind them."""
        form = cls()
        defaults = (
            ("process_limit_gib", limits.process_bytes, GIB),
            ("available_floor_gib", limits.available_floor_bytes, GIB),
            ("growth_limit_mib_per_s", limits.growth_bytes_per_s, 1024**2),
        )
        for name, value, unit in defaults:
            widget = form.fields[name].widget
            widget.attrs["placeholder"] = f"{value / unit:.3g}" if value else "by the machine"
        return form

    def typed(self) -> dict[str, float]:
        """Only what was filled in. Raises ValidationError."""
        if not self.is_valid():
            raise forms.ValidationError([str(e) for es in self.errors.values() for e in es])
        return {key: value for key, value in self.cleaned_data.items() if value is not None}
