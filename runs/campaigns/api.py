"""REST: campaigns, how they stand, their cycles and what happened to them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Deployment, Layer
from people.rest.idempotency import HEADER, idempotent
from people.rest.problems import tell_as_conflict
from people.rest.views import ListResource, ReadResource
from runs.campaigns import services
from runs.campaigns.kinds import SHORTEST_CYCLE_S
from runs.campaigns.mix import Basis
from runs.campaigns.models import Campaign, CampaignNote, Cycle, Kind, TrafficProfile
from runs.campaigns.selectors import standing_of
from runs.campaigns.services import LONGEST_S, CampaignRefused
from runs.campaigns.standing import Terms, would_fail_now

tell_as_conflict(CampaignRefused)


class CampaignData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", read_only=True)
    revision = serializers.IntegerField(source="revision.number", read_only=True)

    class Meta:
        model = Campaign
        fields = (
            "id", "deployment", "revision", "revision_fingerprint", "layer", "kind",
            "is_rehearsal", "terms", "profile", "state", "explanation", "note", "started_at",
            "ends_at", "finished_at", "requested_by_name",
        )  # fmt: skip


class CampaignInput(serializers.Serializer):
    """`rehearsal_s` makes it a rehearsal, which satisfies no gate."""

    deployment = serializers.SlugField(max_length=120)
    kind = serializers.ChoiceField(Kind.choices)
    layer = serializers.ChoiceField(Layer.choices, default=Layer.DIRECT)
    basis = serializers.ChoiceField(Basis.choices, required=False)
    profile = serializers.ChoiceField(TrafficProfile.choices, default=TrafficProfile.STEADY)
    rehearsal_s = serializers.IntegerField(min_value=1, max_value=LONGEST_S, required=False)
    cycle_s = serializers.IntegerField(min_value=SHORTEST_CYCLE_S, max_value=600, required=False)
    note = serializers.CharField(max_length=300, required=False, allow_blank=True)


class ExtendInput(serializers.Serializer):
    seconds = serializers.IntegerField(min_value=1, max_value=LONGEST_S)


class EndInput(serializers.Serializer):
    reason = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")


class StandingData(serializers.Serializer):
    """Times in seconds. `verdict` is empty while nothing is decided."""

    slots_due = serializers.IntegerField()
    slots_covered = serializers.IntegerField()
    elapsed_s = serializers.FloatField()
    covered_s = serializers.FloatField()
    remaining_s = serializers.FloatField()
    coverage = serializers.FloatField(allow_null=True)
    gaps: Any = serializers.ListField(child=serializers.DictField())
    cycles_failed = serializers.IntegerField()
    consecutive_failed = serializers.IntegerField()
    budget_left = serializers.IntegerField()
    requests = serializers.IntegerField()
    completed = serializers.IntegerField()
    drift_bytes = serializers.IntegerField(allow_null=True)
    verdict = serializers.CharField(allow_blank=True)
    why = serializers.CharField(allow_blank=True)
    would_fail_now: Any = serializers.ListField(child=serializers.CharField())


class CycleData(serializers.ModelSerializer):
    class Meta:
        model = Cycle
        fields = (
            "id", "campaign", "number", "due_at", "state", "part", "run", "outcome",
            "failure_class", "explanation", "started_at", "finished_at", "requests", "completed",
            "ttft_ms", "ttft_max_ms", "decode_tps", "rss_before_bytes", "rss_peak_bytes",
            "rss_after_bytes", "queued_max",
        )  # fmt: skip


class NoteData(serializers.ModelSerializer):
    class Meta:
        model = CampaignNote
        fields = ("id", "campaign", "kind", "at", "until", "text", "by_name")


class Campaigns(ReadResource):
    """Canaries, 24-hour gates and seven-day soaks."""

    queryset = Campaign.objects.select_related("deployment", "revision")
    serializer_class = CampaignData
    filterset_fields = {
        "kind": ["exact"],
        "state": ["exact"],
        "is_rehearsal": ["exact"],
        "deployment__slug": ["exact"],
    }

    @extend_schema(request=CampaignInput, responses={201: CampaignData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Begin now, with the active revision."""
        given = self.asked(CampaignInput)
        deployment = get_object_or_404(Deployment, slug=given.pop("deployment"))
        made = services.start_campaign(actor=request.user, deployment=deployment, **given)
        return Response(CampaignData(made).data, status=201)

    @extend_schema(responses=StandingData, filters=False)
    @action(detail=True, pagination_class=None, filter_backends=[])
    def standing(self, request: Request, pk: str) -> Response:
        """Coverage, budget, gaps, and what would fail it now."""
        campaign = self.get_object()
        seen = standing_of(campaign)
        warned = would_fail_now(Terms.from_dict(campaign.terms), seen) if campaign.is_open else []
        return Response(StandingData({**asdict(seen), "would_fail_now": warned}).data)

    @extend_schema(request=None, responses=CampaignData)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Stop asking; the time until it is resumed is a gap."""
        services.pause_campaign(actor=request.user, campaign=self.get_object())
        return Response(CampaignData(self.get_object()).data)

    @extend_schema(request=None, responses=CampaignData)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Go on with the slot that is due now."""
        services.resume_campaign(actor=request.user, campaign=self.get_object())
        return Response(CampaignData(self.get_object()).data)

    @extend_schema(request=ExtendInput, responses=CampaignData)
    @action(detail=True, methods=["post"])
    def extend(self, request: Request, pk: str) -> Response:
        """Let it last longer; what failed or is missing stays so."""
        services.extend_campaign(
            actor=request.user, campaign=self.get_object(), **self.asked(ExtendInput)
        )
        return Response(CampaignData(self.get_object()).data)

    @extend_schema(request=EndInput, responses=CampaignData)
    @action(detail=True, methods=["post"])
    def end(self, request: Request, pk: str) -> Response:
        """End it before its time: it has then proved nothing."""
        services.end_campaign(
            actor=request.user, campaign=self.get_object(), **self.asked(EndInput)
        )
        return Response(CampaignData(self.get_object()).data)


class Cycles(ListResource):
    """What was due at each moment of a campaign, once; a missed one is a row too."""

    queryset = Cycle.objects.order_by("-pk")
    serializer_class = CycleData
    filterset_fields = {"campaign": ["exact"], "state": ["exact"], "outcome": ["exact"]}


class Notes(ListResource):
    """What happened to campaigns beside their cycles."""

    queryset = CampaignNote.objects.order_by("-pk")
    serializer_class = NoteData
    filterset_fields = {"campaign": ["exact"], "kind": ["exact"]}
