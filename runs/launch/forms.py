"""Forms of profiles and of a launch's parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from runs.launch.arguments import RANGES, Parameters, check_path
from runs.launch.models import LaunchProfile
from runs.launch.services import check_profile

if TYPE_CHECKING:  # generic for the type checker only
    ProfileBase = forms.ModelForm[LaunchProfile]
else:
    ProfileBase = forms.ModelForm


class Lines(forms.CharField):
    """A list as text, one entry a line. Spaces inside a line belong to the entry."""

    def __init__(self, **more: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 5, "class": "mono", "spellcheck": "false"})
        super().__init__(required=False, widget=widget, strip=False, **more)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = (line.strip() for line in (value or "").splitlines())
        return [line for line in lines if line]


class Pairs(Lines):
    """A mapping as text, `NAME=value` a line."""

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return "\n".join(f"{name}={text}" for name, text in value.items())
        return value

    def to_python(self, value: Any) -> Any:
        pairs = [line.partition("=") for line in super().to_python(value)]
        if wrong := [name for name, equals, _ in pairs if not equals]:
            raise forms.ValidationError(f"{wrong[0]} has no value: write NAME=value.")
        return {name.strip(): text for name, _, text in pairs}


class ProfileForm(ProfileBase):
    arguments = Lines(
        label="Arguments", help_text="one a line; a line stays one argument, spaces and all"
    )
    extra_arguments = Lines(label="Extra arguments", help_text="added at the end, one a line")
    variables = Pairs(label="Variables set", help_text="NAME=value, one a line; never a key")
    inherited = Lines(
        label="Variables taken over",
        help_text="NAMES of the worker's environment; nothing else of it is passed on",
    )

    class Meta:
        model = LaunchProfile
        fields = (
            "key",
            "name",
            "runtime",
            "program",
            "arguments",
            "extra_arguments",
            "variables",
            "inherited",
            "ready_s",
            "stop_signal",
            "grace_s",
            "memory_budget_mib",
            "by_hand",
            "note",
        )
        labels = {
            "key": "Short name",
            "ready_s": "Ready within",
            "stop_signal": "Stop signal",
            "grace_s": "Grace",
            "memory_budget_mib": "Memory budget",
            "by_hand": "Started by hand",
        }
        help_texts = {
            "ready_s": "seconds; readiness is what the runtime's own health says",
            "grace_s": "seconds between the signal and a kill",
            "memory_budget_mib": "MiB; nothing starts with less available, and runs stop above it",
        }
        widgets = {name: forms.Textarea(attrs={"rows": 2}) for name in ("by_hand", "note")}

    def clean(self) -> dict[str, Any]:
        """The rules of the service, told field by field."""
        data = super().clean() or {}
        if not self.errors:
            probe = LaunchProfile(**{k: v for k, v in data.items() if k != "runtime"})
            try:
                check_profile(probe)
            except forms.ValidationError as error:
                self.add_error(None, error)
        return data


class ParametersForm(forms.Form):
    """What fills the places of a profile; only those that it uses are asked for."""

    parallel = forms.IntegerField(label="Runtime parallel", help_text="slots the server runs")
    context_per_slot = forms.IntegerField(label="Context per slot", help_text="tokens")
    kv_type = forms.RegexField(
        r"^[A-Za-z0-9_]{1,20}$", label="KV type", help_text="such as f16 or q8_0"
    )
    prompt_cache_mib = forms.IntegerField(label="Prompt cache", help_text="MiB")
    checkpoints = forms.IntegerField(label="Checkpoints")
    model_path = forms.CharField(
        label="Model path", max_length=1000, help_text="file, folder or name, as on the worker"
    )

    def __init__(self, *args: Any, used: list[str], **more: Any) -> None:
        super().__init__(*args, **more)
        wanted = {"context_per_slot" if name == "context_total" else name for name in used}
        for name in list(self.fields):
            if name not in wanted:
                del self.fields[name]
            elif name in RANGES:
                low, high = RANGES[name]
                self.fields[name] = forms.IntegerField(
                    label=self.fields[name].label,
                    help_text=self.fields[name].help_text,
                    min_value=low,
                    max_value=high,
                )

    def clean_model_path(self) -> str:
        path: str = self.cleaned_data["model_path"]
        try:
            check_path(path)
        except ValueError as refused:
            raise forms.ValidationError(str(refused)) from refused
        return path

    def parameters(self) -> Parameters:
        return Parameters(**self.cleaned_data)
