"""REST: what may be sent to the catalog, checked field by field."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from catalog.models import Host, Layer, Task
from catalog.runtimes import RUNTIMES
from catalog.services import ArtifactFacts, Configuration, EndpointFacts

MAX_COUNT = 100_000_000


def text(max_length: int = 200, **more: Any) -> serializers.CharField:
    more = {"required": False, "allow_blank": True, **more}
    return serializers.CharField(max_length=max_length, **more)


def needed(max_length: int = 200) -> serializers.CharField:
    return serializers.CharField(max_length=max_length)


def count(at_most: int = MAX_COUNT) -> serializers.IntegerField:
    return serializers.IntegerField(
        min_value=1, max_value=at_most, required=False, allow_null=True
    )


class ArtifactInput(serializers.Serializer):
    name = needed()
    format = text(40)
    quantization = text(80)
    task = serializers.ChoiceField(Task.choices, default=Task.GENERATION)
    family = text(120)
    size_label = text(40)
    tune = text(120)
    # A field called `source` would hide the one every field has.
    file_name = text(300)
    size_bytes = serializers.IntegerField(
        min_value=0, max_value=2**60, required=False, allow_null=True
    )
    digest_sha256 = serializers.RegexField(r"\A[0-9a-f]{64}\Z", required=False)


class ConfigurationChange(serializers.Serializer):
    """Contexts in tokens, the prompt cache in MiB."""

    runtime_version = text(120)
    parallel = count(100_000)
    context_total = count()
    context_per_slot = count()
    kv_type = text(20)
    prompt_cache_mib = count()
    checkpoints = count(1_000_000)


class EndpointInput(serializers.Serializer):
    """`api_key_env` is the NAME of an environment variable."""

    layer = serializers.ChoiceField(Layer.choices)
    base_url = needed(300)
    served_model = needed(300)
    api_key_env = text(80)


class DeploymentInput(serializers.Serializer):
    route = needed()
    runtime = serializers.ChoiceField([(key, key) for key in RUNTIMES])
    host = serializers.SlugField(max_length=50, help_text="a host's key")
    artifact = ArtifactInput()
    configuration = ConfigurationChange()
    endpoint = EndpointInput(required=False)
    note = text(2000)

    @staticmethod
    def read(given: dict[str, Any]) -> dict[str, Any]:
        """As `register_deployment` takes it. Raises ValidationError for an unknown host."""
        host = Host.objects.filter(key=given["host"]).first()
        if host is None:
            raise ValidationError({"host": "There is no such host."})
        endpoint = given.get("endpoint")
        return {
            "route": given["route"],
            "runtime_key": given["runtime"],
            "host": host,
            "artifact": ArtifactFacts(**given["artifact"]),
            "configuration": Configuration(**given["configuration"]),
            "endpoint": EndpointFacts(**endpoint) if endpoint else None,
            "note": given.get("note", ""),
        }


class ClaimInput(serializers.Serializer):
    subject = needed(300)
    source = needed(300)
    hardware = text(200)
    figures = serializers.DictField(
        child=serializers.CharField(max_length=200), allow_empty=True, required=False
    )
    caveat = text(2000)
