"""REST: promotion requests with their review and decisions, verdicts, and who is primary."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Deployment
from people.rest.idempotency import HEADER, idempotent
from people.rest.problems import tell_as_conflict
from people.rest.views import ReadResource
from runs.engine.failure_classes import FAILURE_CLASSES
from verdicts.models import Verdict
from verdicts.policies.models import Role
from verdicts.promotions import selectors, services
from verdicts.promotions.evaluating import as_body, stand
from verdicts.promotions.models import Decision, PromotionRequest
from verdicts.promotions.refusals import PromotionRefused
from verdicts.promotions.services.standing import Change
from verdicts.promotions.slots import slot_for

tell_as_conflict(PromotionRefused)

LONGEST_TEXT = 2000


class DecisionData(serializers.ModelSerializer):
    evaluation_digest = serializers.CharField(source="evaluation.digest", read_only=True)

    class Meta:
        model = Decision
        fields = (
            "kind", "person_name", "comment", "evaluation_digest", "is_single_person",
            "decided_at",
        )  # fmt: skip


class PromotionData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", read_only=True)
    revision = serializers.IntegerField(source="revision.number", read_only=True)
    evaluation_digest = serializers.CharField(source="evaluation.digest", read_only=True)
    verdict = serializers.IntegerField(source="given_id", read_only=True, allow_null=True)
    decisions: Any = DecisionData(many=True, read_only=True)

    class Meta:
        model = PromotionRequest
        fields = (
            "id", "deployment", "revision", "role", "state", "explanation", "reason",
            "planned_route", "evaluation_digest", "requester_name", "created_at", "expires_at",
            "decided_at", "verdict", "decisions",
        )  # fmt: skip


class PromotionInput(serializers.Serializer):
    """`planned_route`: the name clients will send; left out, the canonical route."""

    deployment = serializers.SlugField(max_length=120)
    role = serializers.ChoiceField(Role.choices)
    reason = serializers.CharField(max_length=LONGEST_TEXT)
    planned_route = serializers.CharField(max_length=200, required=False, allow_blank=True)


class DecisionInput(serializers.Serializer):
    """To approve, repeat `digest` and `slot_version` as the review told them."""

    kind = serializers.ChoiceField(["approve", "reject", "ask_more"])
    comment = serializers.CharField(max_length=LONGEST_TEXT, required=False, allow_blank=True)
    digest = serializers.CharField(max_length=64, required=False, allow_blank=True)
    slot_version = serializers.IntegerField(min_value=0, max_value=2**31 - 1, required=False)


class CommentInput(serializers.Serializer):
    comment = serializers.CharField(
        max_length=LONGEST_TEXT, required=False, allow_blank=True, default=""
    )


class ReviewData(serializers.Serializer):
    """How it stands now: what an approval would be for."""

    digest = serializers.CharField()
    slot_version = serializers.IntegerField()
    approvals_given = serializers.IntegerField()
    approvals_needed = serializers.IntegerField()
    retires: Any = serializers.ListField(child=serializers.SlugField())
    evaluation: Any = serializers.DictField()


class VerdictData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", read_only=True)
    revision = serializers.IntegerField(source="revision.number", read_only=True, allow_null=True)

    class Meta:
        model = Verdict
        fields = (
            "id", "deployment", "revision", "state", "role", "label", "reason", "failure_class",
            "unblocks_when", "former", "successor", "author_name", "origin", "decided_at",
        )  # fmt: skip


class VerdictInput(serializers.Serializer):
    """A block says what would end it."""

    deployment = serializers.SlugField(max_length=120)
    change = serializers.ChoiceField([change.value for change in Change])
    reason = serializers.CharField(max_length=LONGEST_TEXT)
    unblocks_when = serializers.CharField(max_length=200, required=False, allow_blank=True)
    failure_class = serializers.ChoiceField(
        [(key, found.title) for key, found in FAILURE_CLASSES.items()], required=False
    )


class Promotions(ReadResource):
    """Requests that a deployment becomes primary for a role."""

    queryset = PromotionRequest.objects.select_related(
        "deployment", "revision", "evaluation"
    ).prefetch_related("decisions__evaluation")
    serializer_class = PromotionData
    filterset_fields = {
        "state": ["exact"],
        "role": ["exact"],
        "deployment__slug": ["exact"],
    }

    @extend_schema(request=PromotionInput, responses={201: PromotionData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Ask for a promotion; refused with the gates that are not met."""
        given = self.asked(PromotionInput)
        deployment = get_object_or_404(Deployment, slug=given.pop("deployment"))
        made = services.request_promotion(actor=request.user, deployment=deployment, **given)
        return Response(PromotionData(made).data, status=201)

    @extend_schema(responses=ReviewData, filters=False)
    @action(detail=True, pagination_class=None, filter_backends=[])
    def review(self, request: Request, pk: str) -> Response:
        """What an approval would be for, evaluated now."""
        asked = self.get_object()
        role = Role(asked.role)
        standing = stand(asked.deployment, role, at=timezone.now())
        said = selectors.approvals_of(asked, standing.digest)
        found = {
            "digest": standing.digest,
            "slot_version": slot_for(role).version,
            "approvals_given": sum(approval.counts for approval in said),
            "approvals_needed": standing.approvals_needed,
            "retires": [v.deployment.slug for v in selectors.would_retire(role, asked.deployment)],
            "evaluation": as_body(standing),
        }
        return Response(ReviewData(found).data)

    @extend_schema(request=DecisionInput, responses=PromotionData)
    @action(detail=True, methods=["post"])
    def decide(self, request: Request, pk: str) -> Response:
        """Approve, reject or ask for more; never by the one who asked."""
        services.decide(actor=request.user, request=self.get_object(), **self.asked(DecisionInput))
        return Response(PromotionData(self.get_object()).data)

    @extend_schema(request=CommentInput, responses=PromotionData)
    @action(detail=True, methods=["post"])
    def answer(self, request: Request, pk: str) -> Response:
        """Say what was asked for."""
        services.answer(actor=request.user, request=self.get_object(), **self.asked(CommentInput))
        return Response(PromotionData(self.get_object()).data)

    @extend_schema(request=CommentInput, responses=PromotionData)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Take one's own request back."""
        services.withdraw(
            actor=request.user, request=self.get_object(), **self.asked(CommentInput)
        )
        return Response(PromotionData(self.get_object()).data)

    @extend_schema(request=CommentInput, responses=PromotionData)
    @action(detail=True, methods=["post"])
    def rollback(self, request: Request, pk: str) -> Response:
        """Restore the primary from before this promotion, at once."""
        services.roll_back(
            actor=request.user, request=self.get_object(), **self.asked(CommentInput)
        )
        return Response(PromotionData(self.get_object()).data)


class Verdicts(ReadResource):
    """What was decided about deployments; the newest of a deployment holds."""

    queryset = Verdict.objects.select_related("deployment", "revision")
    serializer_class = VerdictData
    filterset_fields = {"state": ["exact"], "deployment__slug": ["exact"], "origin": ["exact"]}

    @extend_schema(request=VerdictInput, responses={201: VerdictData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Block, reject, reopen or retire, with a reason."""
        given = self.asked(VerdictInput)
        deployment = get_object_or_404(Deployment, slug=given.pop("deployment"))
        made = services.change_verdict(actor=request.user, deployment=deployment, **given)
        return Response(VerdictData(made).data, status=201)
