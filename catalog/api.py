"""REST: what there is to qualify."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import services
from catalog.api_input import (
    ClaimInput,
    ConfigurationChange,
    DeploymentInput,
    EndpointInput,
)
from catalog.claims import add_claim
from catalog.models import Artifact, Claim, Deployment, Endpoint, Host, Revision
from people.rest.idempotency import HEADER, idempotent
from people.rest.views import SLUG, ReadResource


class HostData(serializers.ModelSerializer):
    class Meta:
        model = Host
        fields = ("key", "name", "chip", "os", "memory_bytes", "origin")


class ArtifactData(serializers.ModelSerializer):
    class Meta:
        model = Artifact
        fields = (
            "id", "name", "family", "tune", "size_label", "format", "quantization", "task",
            "source", "file_name", "size_bytes", "digest_sha256", "origin", "note",
        )  # fmt: skip


class EndpointData(serializers.ModelSerializer):
    """The key's variable is named; its value is nowhere."""

    deployment = serializers.SlugRelatedField("slug", read_only=True)

    class Meta:
        model = Endpoint
        fields = (
            "id", "deployment", "layer", "base_url", "served_model", "api_key_env", "is_active",
        )  # fmt: skip


class RevisionData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", read_only=True)
    runtime_version = serializers.CharField(source="runtime_build.version", read_only=True)

    class Meta:
        model = Revision
        fields = (
            "id", "deployment", "number", "is_active", "fingerprint", "runtime_version",
            "parallel", "context_total", "context_per_slot", "kv_type", "prompt_cache_mib",
            "checkpoints", "guards", "admission", "artifact_digest", "origin", "created_at",
        )  # fmt: skip


class DeploymentData(serializers.ModelSerializer):
    artifact = ArtifactData(read_only=True)
    runtime = serializers.SlugRelatedField("key", read_only=True)
    host = serializers.SlugRelatedField("key", read_only=True)

    class Meta:
        model = Deployment
        fields = (
            "slug", "canonical_route", "artifact", "runtime", "host", "origin", "note",
            "is_archived", "created_at",
        )  # fmt: skip


class ClaimData(serializers.ModelSerializer):
    figures: Any = serializers.DictField(child=serializers.JSONField())

    class Meta:
        model = Claim
        fields = ("id", "subject", "hardware", "figures", "caveat", "origin", "reported_on")


class Deployments(ReadResource):
    """Artifact x runtime on a host, under a canonical route."""

    queryset = Deployment.objects.select_related("artifact", "runtime", "host")
    serializer_class = DeploymentData
    lookup_field = "slug"
    lookup_value_regex = SLUG
    filterset_fields = {
        "host__key": ["exact"],
        "runtime__key": ["exact"],
        "artifact__task": ["exact"],
        "canonical_route": ["exact"],
        "is_archived": ["exact"],
    }

    @extend_schema(request=DeploymentInput, responses={201: DeploymentData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Register a deployment with its first revision, and an endpoint if one is given."""
        given = DeploymentInput.read(self.asked(DeploymentInput))
        made = services.register_deployment(actor=request.user, **given)
        return Response(DeploymentData(made).data, status=201)

    @extend_schema(request=ConfigurationChange, responses={201: RevisionData}, parameters=[HEADER])
    @action(detail=True, methods=["post"], url_path="revisions")
    @idempotent
    def add_revision(self, request: Request, slug: str) -> Response:
        """The next revision: what the active one has, but for what is given."""
        made = services.change_configuration(
            actor=request.user,
            deployment=get_object_or_404(Deployment, slug=slug),
            changes=self.asked(ConfigurationChange),
        )
        return Response(RevisionData(made).data, status=201)

    @extend_schema(request=EndpointInput, responses={201: EndpointData}, parameters=[HEADER])
    @action(detail=True, methods=["post"], url_path="endpoints")
    @idempotent
    def add_endpoint(self, request: Request, slug: str) -> Response:
        """Where a layer answers from now on. Admins only."""
        made = services.add_endpoint(
            actor=request.user,
            deployment=get_object_or_404(Deployment, slug=slug),
            endpoint=services.EndpointFacts(**self.asked(EndpointInput)),
        )
        return Response(EndpointData(made).data, status=201)


class Revisions(ReadResource):
    """Immutable configurations. Evidence counts for a fingerprint alone."""

    queryset = Revision.objects.select_related("deployment", "runtime_build")
    serializer_class = RevisionData
    filterset_fields = {
        "deployment__slug": ["exact"],
        "is_active": ["exact"],
        "fingerprint": ["exact"],
    }


class Endpoints(ReadResource):
    """Where each layer of a deployment answers."""

    queryset = Endpoint.objects.select_related("deployment")
    serializer_class = EndpointData
    filterset_fields = {
        "deployment__slug": ["exact"],
        "layer": ["exact"],
        "is_active": ["exact"],
    }


class Artifacts(ReadResource):
    """Exact model files and folders."""

    queryset = Artifact.objects.all()
    serializer_class = ArtifactData
    filterset_fields = {name: ["exact"] for name in ("name", "family", "quantization", "task")}


class Hosts(ReadResource):
    """Machines that serve models."""

    queryset = Host.objects.all()
    serializer_class = HostData
    lookup_field = "key"
    lookup_value_regex = SLUG


class Claims(ReadResource):
    """Somebody else's figures: shown apart, never counted."""

    queryset = Claim.objects.all()
    serializer_class = ClaimData

    @extend_schema(request=ClaimInput, responses={201: ClaimData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Note a claim with its source."""
        made = add_claim(actor=request.user, **self.asked(ClaimInput))
        return Response(ClaimData(made).data, status=201)
