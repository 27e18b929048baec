"""REST: what is still to be done."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.follow_ups import services
from catalog.follow_ups.services import FollowUpRefused
from catalog.models import Deployment, FollowUp, FollowUpEntry
from people.models import User
from people.rest.idempotency import HEADER, idempotent
from people.rest.problems import tell_as_conflict
from people.rest.views import ReadResource
from runs.engine.failure_classes import FAILURE_CLASSES
from runs.follow_ups.services import close_follow_up

tell_as_conflict(FollowUpRefused)


class EntryData(serializers.ModelSerializer):
    class Meta:
        model = FollowUpEntry
        fields = ("kind", "text", "path", "by_name", "at")


class FollowUpData(serializers.ModelSerializer):
    """`deployments` empty: about every one. `entries`: its history, oldest first."""

    deployments: Any = serializers.SlugRelatedField("slug", many=True, read_only=True)
    assignee = serializers.SlugRelatedField("username", read_only=True)
    entries = EntryData(many=True, read_only=True)

    class Meta:
        model = FollowUp
        fields = (
            "id", "text", "deployments", "is_open", "origin", "reported_on", "created_at",
            "failure_class", "assignee", "due_on", "closed_at", "closed_by_run", "entries",
        )  # fmt: skip


class PlanInput(serializers.Serializer):
    """Left out: nobody, no date."""

    assignee = serializers.SlugRelatedField(
        "username",
        queryset=User.objects.filter(is_active=True),
        allow_null=True,
        default=None,
    )
    due_on = serializers.DateField(allow_null=True, default=None)


class FollowUpInput(PlanInput):
    text = serializers.CharField(max_length=services.LONGEST)
    deployments: Any = serializers.ListField(
        child=serializers.SlugField(max_length=120), max_length=100, default=list
    )
    failure_class = serializers.ChoiceField([(key, key) for key in FAILURE_CLASSES], default="")


class CommentInput(serializers.Serializer):
    text = serializers.CharField(max_length=services.LONGEST)


class ReasonInput(serializers.Serializer):
    reason = serializers.CharField(max_length=services.LONGEST)


class CloseInput(serializers.Serializer):
    """By the number of a run that proves it, or for a reason, or both."""

    run = serializers.IntegerField(
        min_value=1, max_value=2**62, allow_null=True, default=None, source="run_number"
    )
    reason = serializers.CharField(
        max_length=services.LONGEST, allow_blank=True, required=False, default=""
    )


class FollowUps(ReadResource):
    """What is still to be done, closed by evidence."""

    queryset = FollowUp.objects.select_related("assignee").prefetch_related(
        "deployments", "entries"
    )
    serializer_class = FollowUpData
    filterset_fields = {
        "is_open": ["exact"],
        "deployments__slug": ["exact"],
        "assignee__username": ["exact"],
        "failure_class": ["exact"],
    }

    @extend_schema(request=FollowUpInput, responses={201: FollowUpData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Raise a follow-up."""
        given = self.asked(FollowUpInput)
        slugs = given.pop("deployments")
        tied = [get_object_or_404(Deployment, slug=slug) for slug in slugs]
        made = services.raise_follow_up(actor=request.user, deployments=tied, **given)
        return Response(FollowUpData(made).data, status=201)

    @extend_schema(request=CommentInput, responses={200: FollowUpData})
    @action(detail=True, methods=["post"])
    def comment(self, request: Request, pk: str) -> Response:
        """Add to its history."""
        return self._changed(request, services.comment, CommentInput)

    @extend_schema(request=PlanInput, responses={200: FollowUpData})
    @action(detail=True, methods=["post"])
    def plan(self, request: Request, pk: str) -> Response:
        """Who does it, and until when."""
        return self._changed(request, services.plan, PlanInput)

    @extend_schema(request=CloseInput, responses={200: FollowUpData})
    @action(detail=True, methods=["post"])
    def close(self, request: Request, pk: str) -> Response:
        """Close it by a run of its deployments that passed since it was opened, or a reason."""
        return self._changed(request, close_follow_up, CloseInput)

    @extend_schema(request=ReasonInput, responses={200: FollowUpData})
    @action(detail=True, methods=["post"])
    def reopen(self, request: Request, pk: str) -> Response:
        """Open it again, for a reason."""
        return self._changed(request, services.reopen, ReasonInput)

    def _changed(self, request: Request, service: Any, given: Any) -> Response:
        service(actor=request.user, follow_up=self.get_object(), **self.asked(given))
        return Response(FollowUpData(self.get_object()).data)
