"""REST: policies and their versions, waivers, and how a deployment stands."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Deployment, Layer
from people.rest.idempotency import HEADER, idempotent
from people.rest.problems import tell_as_conflict
from people.rest.views import SLUG, ReadResource, Resource
from runs.campaigns.models import Kind
from verdicts.policies import services
from verdicts.policies.forms import CHECK_CHOICES
from verdicts.policies.gates import Gate, GateKind
from verdicts.policies.models import PolicyVersion, Role, Waiver
from verdicts.policies.selectors import evaluate_revision
from verdicts.policies.services import PolicyRefused

tell_as_conflict(PolicyRefused)


class AskedData(serializers.Serializer):
    """The least that the check is asked with. `clients`: a number, or `slots`."""

    tokens = serializers.IntegerField(min_value=1, max_value=2_000_000, required=False)
    clients = serializers.RegexField(r"^([1-9][0-9]{0,3}|slots)$", required=False)

    def validate_clients(self, value: str) -> int | str:
        return int(value) if value.isdigit() else value


class GateData(serializers.Serializer):
    key = serializers.SlugField(max_length=40)
    title = serializers.CharField(max_length=80)
    kind = serializers.ChoiceField([kind.value for kind in GateKind], default="check")
    layer = serializers.ChoiceField(Layer.choices, default="direct")
    check = serializers.ChoiceField(CHECK_CHOICES, default="", allow_blank=True)
    campaign = serializers.ChoiceField(Kind.choices, default="", allow_blank=True)
    params: Any = AskedData(required=False)
    min_count = serializers.IntegerField(min_value=1, max_value=10_000_000, default=1)
    freshness_days = serializers.IntegerField(min_value=1, max_value=365, default=30)
    ttft_max_ms = serializers.FloatField(min_value=1, allow_null=True, default=None)
    decode_min_tps = serializers.FloatField(min_value=0.1, allow_null=True, default=None)
    may_waive = serializers.BooleanField(default=False)
    counts = serializers.BooleanField(default=True)


class PolicyData(serializers.ModelSerializer):
    class Meta:
        model = PolicyVersion
        fields = (
            "id", "role", "number", "gates", "approvals_needed", "days_to_decide", "note",
            "is_current", "author_name", "created_at",
        )  # fmt: skip


class PolicyInput(serializers.Serializer):
    """`based_on`: the version number that was edited; refused when another came meanwhile."""

    role = serializers.ChoiceField(Role.choices)
    gates: Any = GateData(many=True)
    note = serializers.CharField(max_length=300)
    approvals_needed = serializers.IntegerField(min_value=1, max_value=5, default=1)
    days_to_decide = serializers.IntegerField(min_value=1, max_value=60, default=7)
    based_on = serializers.IntegerField(min_value=0, max_value=2**31 - 1, required=False)


class WaiverData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", source="revision.deployment", read_only=True)
    revision = serializers.IntegerField(source="revision.number", read_only=True)

    class Meta:
        model = Waiver
        fields = (
            "id", "deployment", "revision", "role", "gate_key", "reason", "person_name",
            "created_at", "expires_at", "withdrawn_at", "withdrawn_by_name",
        )  # fmt: skip


class WaiverInput(serializers.Serializer):
    deployment = serializers.SlugField(max_length=120)
    role = serializers.ChoiceField(Role.choices)
    gate_key = serializers.SlugField(max_length=40)
    reason = serializers.CharField(max_length=2000)
    expires_at = serializers.DateTimeField()


class GateResultData(serializers.Serializer):
    key = serializers.CharField()
    title = serializers.CharField()
    state = serializers.CharField()
    sentence = serializers.CharField()
    evidence: Any = serializers.ListField(child=serializers.DictField())
    counts = serializers.BooleanField()


class EvaluationData(serializers.Serializer):
    """How a revision stands for a role at a moment."""

    deployment = serializers.CharField()
    revision = serializers.IntegerField()
    fingerprint = serializers.CharField()
    role = serializers.CharField()
    policy_number = serializers.IntegerField()
    at = serializers.DateTimeField()
    digest = serializers.CharField()
    gates: Any = GateResultData(many=True)


class Policies(ReadResource):
    """Versions of the gates of each role; a change is a new version."""

    queryset = PolicyVersion.objects.all()
    serializer_class = PolicyData
    filterset_fields = {"role": ["exact"], "is_current": ["exact"]}

    @extend_schema(request=PolicyInput, responses={201: PolicyData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Store the next version of a role's policy, in force at once."""
        given = self.asked(PolicyInput)
        given["role"] = Role(given["role"])
        given["gates"] = [
            Gate(**{**gate, "params": gate.get("params", {})}) for gate in given["gates"]
        ]
        made = services.save_policy(actor=request.user, **given)
        return Response(PolicyData(made).data, status=201)


class Waivers(ReadResource):
    """Gates that somebody let be, for one revision and role, until a day."""

    queryset = Waiver.objects.select_related("revision__deployment")
    serializer_class = WaiverData
    filterset_fields = {"role": ["exact"], "revision__deployment__slug": ["exact"]}

    @extend_schema(request=WaiverInput, responses={201: WaiverData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Waive a gate of the deployment's active revision."""
        given = self.asked(WaiverInput)
        revision = active_or_404(given.pop("deployment"))
        given["role"] = Role(given["role"])
        made = services.waive(actor=request.user, revision=revision, **given)
        return Response(WaiverData(made).data, status=201)

    @extend_schema(request=None, responses=WaiverData)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """End it now; that it was there stays visible."""
        services.withdraw_waiver(actor=request.user, waiver=self.get_object())
        return Response(WaiverData(self.get_object()).data)


class Evaluations(mixins.RetrieveModelMixin, Resource):
    """How deployments stand; computed, also for any past moment."""

    queryset = Deployment.objects.all()
    serializer_class = EvaluationData
    lookup_field = "slug"
    lookup_value_regex = SLUG
    pagination_class = None
    filter_backends = ()
    http_method_names = ("get", "head", "options")

    @extend_schema(
        responses=EvaluationData,
        parameters=[
            OpenApiParameter("role", enum=list(Role.values), required=True),
            OpenApiParameter("at", type=datetime, description="left out: now"),
        ],
    )
    def retrieve(self, request: Request, slug: str) -> Response:
        """Each gate of the role's policy, for the active revision."""
        role, at = asked_of(request)
        revision = active_or_404(slug)
        found = evaluate_revision(
            deployment=revision.deployment, revision=revision, role=role, at=at
        )
        told = {
            "deployment": slug,
            "revision": revision.number,
            "fingerprint": revision.fingerprint,
            "role": role.value,
            "policy_number": found.policy_version.number,
            "at": at,
            "digest": found.digest,
            "gates": [gate.as_dict() for gate in found.gates],
        }
        return Response(EvaluationData(told).data)


class When(serializers.Serializer):
    role = serializers.ChoiceField(Role.choices)
    at = serializers.DateTimeField(required=False)


def asked_of(request: Request) -> tuple[Role, datetime]:
    given = When(data=request.query_params)
    given.is_valid(raise_exception=True)
    return Role(given.validated_data["role"]), given.validated_data.get("at") or timezone.now()


def active_or_404(slug: str) -> Any:
    deployment = get_object_or_404(Deployment, slug=slug)
    revision = deployment.revisions.filter(is_active=True).first()
    if revision is None:
        raise NotFound(f"{slug} has no active revision.")
    return revision
