"""Registering by hand: what people type, checked field by field."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator

from catalog.addresses import validate_address
from catalog.models import Deployment, Host, Layer, Task
from catalog.runtimes import RUNTIMES
from catalog.services import ArtifactFacts, Configuration, EndpointFacts

SHA256 = RegexValidator(r"^[0-9a-f]{64}$", "A SHA-256 has 64 digits from 0 to f.")
MAX_TOKENS = 100_000_000


def text(label: str, *, required: bool = False, max_length: int = 200, **more: Any) -> Any:
    return forms.CharField(label=label, required=required, max_length=max_length, **more)


def count(label: str, help_text: str = "", at_most: int = MAX_TOKENS) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        help_text=help_text,
        validators=[MinValueValidator(1), MaxValueValidator(at_most)],
    )


class AddressForm(forms.Form):
    """Where to look for a running server."""

    address = text(
        "Address", required=True, max_length=300, validators=[validate_address],
        help_text="such as http://127.0.0.1:8080",
    )  # fmt: skip
    key_variable = text(
        "Key variable",
        max_length=80,
        validators=[RegexValidator(r"^[A-Za-z_][A-Za-z0-9_]*$", "Give the name, never the key.")],
        help_text="NAME of the environment variable with the key, if it needs one",
    )


class ConfigurationForm(forms.Form):
    """What a revision freezes."""

    runtime_version = text("Runtime version", max_length=120)
    parallel = count("Runtime parallel", "slots the server runs", at_most=100_000)
    context_total = count("Context, total", "tokens")
    context_per_slot = count("Context per slot", "tokens")
    kv_type = text("KV type", max_length=20, help_text="such as F16 or Q8_0")
    prompt_cache_mib = count("Prompt cache", "MiB")
    checkpoints = count("Checkpoints", at_most=1_000_000)

    def clean(self) -> dict[str, Any]:
        """Fixed slots: the total is slots x per-slot, said with the arithmetic."""
        data = super().clean() or {}
        slots, per_slot = data.get("parallel"), data.get("context_per_slot")
        total = data.get("context_total")
        if slots and per_slot and total and slots * per_slot != total:
            self.add_error(
                "context_total",
                f"{slots} slots x {per_slot:,} tokens = {slots * per_slot:,}, not {total:,}. "
                "Leave the total empty if the slots share their context.",
            )
        return data

    def configuration(self) -> Configuration:
        """What was typed, as services take it."""
        data = self.cleaned_data
        return Configuration(
            runtime_version=data["runtime_version"],
            parallel=data["parallel"],
            context_total=data["context_total"],
            context_per_slot=data["context_per_slot"],
            kv_type=data["kv_type"],
            prompt_cache_mib=data["prompt_cache_mib"],
            checkpoints=data["checkpoints"],
            artifact_digest=data.get("digest_sha256", ""),
        )


class EndpointForm(forms.Form):
    """Where a layer answers."""

    layer = forms.ChoiceField(label="Layer", choices=Layer, initial=Layer.DIRECT)
    base_url = text(
        "Address with API prefix", required=True, max_length=300, validators=[validate_address],
        help_text="such as http://127.0.0.1:8080/v1",
    )  # fmt: skip
    served_model = text("Model name to send", required=True, max_length=300)
    api_key_env = text(
        "Key variable",
        max_length=80,
        validators=[RegexValidator(r"^[A-Za-z_][A-Za-z0-9_]*$", "Give the name, never the key.")],
        help_text="NAME of an environment variable of the worker, never the key itself",
    )

    def endpoint(self) -> EndpointFacts:
        data = self.cleaned_data
        return EndpointFacts(
            base_url=data["base_url"].rstrip("/"),
            served_model=data["served_model"],
            layer=data["layer"],
            api_key_env=data["api_key_env"],
        )


class DeploymentForm(ConfigurationForm):
    """A deployment with its first configuration."""

    field_order = ("model", "route", "runtime", "host", "new_host")

    model = text("Model", required=True, help_text="its full name, such as Qwen 3.6 27B Heretic")
    route = text("Canonical route", required=True, help_text="the name clients send")
    runtime = forms.ChoiceField(label="Runtime", choices=list(RUNTIMES.items()))
    host = forms.ModelChoiceField(
        label="Host",
        queryset=Host.objects.all(),
        required=False,
        empty_label="a new host, named beside",
    )
    new_host = text("New host", max_length=120, help_text="only where no host is chosen")
    task = forms.ChoiceField(label="Task", choices=Task, initial=Task.GENERATION)
    format = text("Format", max_length=40, help_text="such as GGUF or MLX")
    quantization = text("Quantization", max_length=80)
    file_name = text("File or folder", max_length=300)
    digest_sha256 = text("SHA-256", max_length=64, validators=[SHA256])
    size_bytes = forms.IntegerField(label="Size", required=False, min_value=1, help_text="bytes")
    note = forms.CharField(
        label="Note", required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2})
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if not data.get("host") and not data.get("new_host"):
            self.add_error("host", ValidationError("Choose a host, or name a new one."))
        return data

    def artifact(self) -> ArtifactFacts:
        data = self.cleaned_data
        return ArtifactFacts(
            name=data["model"],
            task=data["task"],
            format=data["format"],
            quantization=data["quantization"],
            file_name=data["file_name"],
            digest_sha256=data["digest_sha256"],
            size_bytes=data["size_bytes"],
        )

    def groups(self) -> dict[str, list[forms.BoundField]]:
        """The fields as the page lays them out: the deployment, then its configuration."""
        settings = set(ConfigurationForm.base_fields)
        return {
            "deployment": [self[name] for name in self.fields if name not in settings],
            "configuration": [self[name] for name in self.fields if name in settings],
        }


class ClaimForm(forms.Form):
    """Somebody's published figures, one `name: value` a line."""

    subject = text("What it is about", required=True, max_length=300)
    source = text("Source", required=True, max_length=300, help_text="address or publication")
    hardware = text("Hardware", help_text="as they say, such as M1 Max 64 GB")
    figures = forms.CharField(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="one a line: name: value with its unit",
    )
    caveat = text("Caveat", max_length=2000, help_text="why it may not hold here")
    deployments = forms.ModelMultipleChoiceField(
        Deployment.objects.filter(is_archived=False).select_related("artifact"),
        required=False,
        label="Shown beside",
        help_text="deployments whose page names this claim",
    )

    def clean_figures(self) -> dict[str, str]:
        lines = [line for line in self.cleaned_data["figures"].splitlines() if line.strip()]
        parted = [line.partition(":") for line in lines]
        if any(not colon or not value.strip() for _, colon, value in parted):
            raise ValidationError("Each line is a name, a colon and a value.")
        return {name.strip(): value.strip() for name, _, value in parted}
