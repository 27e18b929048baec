"""The grid as a person types it. Every value is visible, and nothing typed is lost on an error."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.models import Deployment, Layer, Task
from runs.launch.arguments import RANGES, Parameters, check_path
from runs.launch.models import LaunchProfile
from runs.memory.forms import GuardForm
from runs.sweeps.grid import MOST_REPEATS, MOST_WARM_UP, Grid, GridRefused, numbers, written
from runs.sweeps.models import Cache
from runs.sweeps.planning import MAX_TIMEOUT_S, MIN_TIMEOUT_S, MOST_FAILURES, Draft
from runs.sweeps.services import MOST_SEEDS

LIST_CHARS = 200
PLAIN = {"runtime_parallel": "1, 2, 4", "client_concurrency": "1, 2, 4", "prompt_tokens": "2048"}


class Numbers(forms.CharField):
    """Whole numbers, apart by commas or spaces; 32K is 32,768."""

    def __init__(self, **more: Any) -> None:
        widget = forms.TextInput(attrs={"inputmode": "text", "autocomplete": "off"})
        super().__init__(required=False, max_length=LIST_CHARS, widget=widget, **more)

    def prepare_value(self, value: Any) -> Any:
        return written(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        try:
            return numbers(super().to_python(value) or "")
        except ValueError as wrong:
            raise forms.ValidationError(str(wrong)) from wrong


def ranged(name: str, label: str, help_text: str) -> forms.IntegerField:
    low, high = RANGES[name]
    return forms.IntegerField(
        required=False, min_value=low, max_value=high, label=label, help_text=help_text
    )


class SweepForm(forms.Form):
    """`draft` gives what can be planned. Whose server it is decides which fields count."""

    profile = forms.ModelChoiceField(
        LaunchProfile.objects.none(),
        to_field_name="key",
        required=False,
        label="Server",
        empty_label="Run by somebody else",
        help_text="a launch profile starts and stops it for each runtime parallel",
    )
    layer = forms.ChoiceField(choices=Layer.choices, label="Layer", initial=Layer.DIRECT)
    runtime_parallel = Numbers(
        label="Runtime parallel", help_text="slots of the server, one launch each: 1, 2, 4, 8"
    )
    client_concurrency = Numbers(
        label="Client concurrency", help_text="requests that we have open: 1, 2, 4, 8"
    )
    prompt_tokens = Numbers(
        label="Prompt size", help_text="tokens: 2048, 32K; empty: a short question"
    )
    caches = forms.MultipleChoiceField(
        choices=Cache.choices,
        label="Prompts",
        widget=forms.CheckboxSelectMultiple,
        initial=[Cache.FRESH],
    )
    repeats = forms.IntegerField(
        min_value=1, max_value=MOST_REPEATS, initial=1, label="Repeats of each cell"
    )
    warm_up = forms.IntegerField(
        min_value=0, max_value=MOST_WARM_UP, initial=1, label="Warm-up requests",
        help_text="at the start of each server, counted nowhere",
    )  # fmt: skip
    context_per_slot = ranged("context_per_slot", "Context per slot", "tokens")
    context_totals = Numbers(
        label="Total context",
        help_text="one for each runtime parallel, to be checked; empty: it is worked out",
    )
    kv_type = forms.CharField(
        required=False, max_length=20, label="KV type", help_text="f16, q8_0"
    )
    prompt_cache_mib = ranged("prompt_cache_mib", "Prompt cache", "MiB")
    checkpoints = ranged("checkpoints", "Checkpoints", "per slot")
    model_path = forms.CharField(
        required=False, max_length=1000, label="Model path", help_text="as the worker sees it"
    )
    seed = forms.IntegerField(
        min_value=0, max_value=MOST_SEEDS - 1, label="Seed", help_text="of the order of cells"
    )
    cell_timeout_s = forms.IntegerField(
        min_value=MIN_TIMEOUT_S, max_value=MAX_TIMEOUT_S, initial=900, label="Longest cell",
        help_text="seconds, then it is broken off",
    )  # fmt: skip
    max_failures = forms.IntegerField(
        min_value=1, max_value=MOST_FAILURES, initial=5, label="Stop after",
        help_text="failures; a server that does not start is one",
    )  # fmt: skip
    note = forms.CharField(required=False, max_length=300, label="Note")

    def __init__(self, deployment: Deployment, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.deployment = deployment
        self.guards = GuardForm(self.data or None)
        field = self.fields["profile"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = LaunchProfile.objects.filter(runtime=deployment.runtime)

    def clean_model_path(self) -> str:
        path = str(self.cleaned_data["model_path"])
        try:
            check_path(path)
        except ValueError as refused:
            raise forms.ValidationError(str(refused)) from refused
        return path

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.guards.is_valid():
            self.add_error(None, "A memory limit is out of its range.")
        return cleaned

    def refuse(self, refused: GridRefused) -> None:
        """Show it beside the field that must be put right."""
        self.add_error(refused.field if refused.field in self.fields else None, str(refused))

    def grid(self) -> Grid:
        typed = self.cleaned_data
        return Grid(
            runtime_parallel=typed["runtime_parallel"],
            client_concurrency=typed["client_concurrency"],
            prompt_tokens=typed["prompt_tokens"],
            caches=tuple(typed["caches"]),
            repeats=typed["repeats"],
            warm_up=typed["warm_up"],
            context_totals=typed["context_totals"],
        )

    def parameters(self) -> Parameters:
        typed = self.cleaned_data
        if typed["profile"] is None:
            return Parameters()
        names = ("context_per_slot", "kv_type", "prompt_cache_mib", "checkpoints", "model_path")
        return Parameters(**{name: typed[name] for name in names})

    def draft(self) -> Draft:
        typed = self.cleaned_data
        return Draft(
            deployment=self.deployment,
            profile=typed["profile"],
            layer=typed["layer"],
            base=self.parameters(),
            grid=self.grid(),
            guards=self.guards.typed(),
            cell_timeout_s=typed["cell_timeout_s"],
            max_failures=typed["max_failures"],
        )


def first_values(deployment: Deployment, seed: int) -> dict[str, Any]:
    """What the form shows at first: the active revision's settings, and a small grid."""
    revision = deployment.revisions.filter(is_active=True).first()
    profiles = LaunchProfile.objects.filter(runtime=deployment.runtime, by_hand="")
    endpoint = deployment.endpoints.filter(is_active=True).order_by("layer").first()
    values: dict[str, Any] = {
        **PLAIN,
        "seed": seed,
        "context_per_slot": revision.context_per_slot if revision else None,
        "kv_type": (revision.kv_type if revision else "") or "f16",
        "prompt_cache_mib": (revision.prompt_cache_mib if revision else None) or 0,
        "checkpoints": (revision.checkpoints if revision else None) or 0,
        "layer": endpoint.layer if endpoint else Layer.DIRECT,
    }
    used = revision.extra.get("launch_profile") if revision else None
    profile = profiles.filter(key=used).first() if used else None
    if profile is None:
        values["runtime_parallel"] = ""
    if deployment.artifact.task != Task.GENERATION:
        values["prompt_tokens"] = ""
    return {**values, "profile": profile.key if profile else None}
