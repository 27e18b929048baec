"""REST: suites and runs. Starting, cancelling and repeating call the browser's services."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Deployment, Layer
from people.rest.idempotency import HEADER, idempotent
from people.rest.paging import Pages
from people.rest.problems import tell_as_conflict
from people.rest.views import ReadResource
from runs.engine.checks import CHECKS
from runs.filters import RunFilter
from runs.follow import read_page
from runs.memory.api import SERIES, SeriesData, series_of
from runs.models import Run, RunRequest, Suite
from runs.planning import RunRefused, current_suite
from runs.services import cancel_run, repeat_run, start_run
from runs.suites.services import save_suite

tell_as_conflict(RunRefused)


class CheckData(serializers.Serializer):
    key = serializers.ChoiceField([(key, key) for key in CHECKS])
    params: Any = serializers.DictField(required=False)


class SuiteData(serializers.ModelSerializer):
    checks: Any = CheckData(many=True, read_only=True)

    class Meta:
        model = Suite
        fields = (
            "id", "key", "version", "name", "description", "checks", "is_current", "created_at",
        )  # fmt: skip


class SuiteInput(serializers.Serializer):
    key = serializers.SlugField(max_length=50)
    name = serializers.CharField(max_length=80)
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    checks: Any = CheckData(many=True, allow_empty=False, max_length=200)


class RunData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", read_only=True)
    revision = serializers.IntegerField(source="revision.number", read_only=True)
    host = serializers.SlugRelatedField("key", read_only=True)
    suite = serializers.SlugRelatedField("key", read_only=True)
    suite_version = serializers.IntegerField(source="suite.version", read_only=True)

    class Meta:
        model = Run
        fields = (
            "id", "deployment", "revision", "revision_fingerprint", "layer", "host", "suite",
            "suite_version", "code_version", "state", "outcome", "failure_class", "explanation",
            "planned_requests", "repeats", "note", "requested_by_name", "created_at",
            "started_at", "finished_at", "cancel_requested_at",
        )  # fmt: skip


class RunInput(serializers.Serializer):
    """What to start; the deployment by its slug, the suite by its key."""

    deployment = serializers.SlugField(max_length=120)
    suite = serializers.SlugField(max_length=50)
    layer = serializers.ChoiceField(Layer.choices, default=Layer.DIRECT)
    note = serializers.CharField(max_length=300, required=False, allow_blank=True)


class RequestData(serializers.ModelSerializer):
    """One exchange; times are ours (origin client), in ms from sending it."""

    class Meta:
        model = RunRequest
        fields = (
            "index", "check_key", "label", "streamed", "cache", "client_concurrency", "outcome",
            "failure_class", "explanation", "started_offset_ms", "ttft_ms", "end_ms",
            "decode_tps", "prompt_tokens", "completion_tokens", "cached_tokens",
        )  # fmt: skip


class EventData(serializers.Serializer):
    seq = serializers.IntegerField()
    t_ms = serializers.FloatField()
    kind = serializers.CharField()
    payload: Any = serializers.DictField()


class StatusData(serializers.Serializer):
    state = serializers.CharField()
    sentence = serializers.CharField()
    is_stalled = serializers.BooleanField()
    is_cancelling = serializers.BooleanField()


class EventPage(serializers.Serializer):
    """`is_more`: ask again at once. `is_ended`: nothing will ever follow."""

    events = EventData(many=True)
    last = serializers.IntegerField()
    elapsed_ms = serializers.FloatField(allow_null=True)
    is_more = serializers.BooleanField()
    is_ended = serializers.BooleanField()
    status = StatusData()


class ByIndex(Pages):
    ordering = "index"


class Suites(ReadResource):
    """Named lists of checks, in versions."""

    queryset = Suite.objects.all()
    serializer_class = SuiteData
    filterset_fields = {"key": ["exact"], "is_current": ["exact"]}

    @extend_schema(request=SuiteInput, responses={201: SuiteData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Store a suite's next version; the current one where nothing changed. Admins only."""
        given = {"description": "", **self.asked(SuiteInput)}
        made = save_suite(actor=request.user, **given)
        return Response(SuiteData(made).data, status=201)


class Runs(ReadResource):
    """Executions of a suite against one revision through one layer."""

    queryset = Run.objects.select_related("deployment", "revision", "host", "suite").defer(
        "plan", "report"
    )
    serializer_class = RunData
    filterset_class = RunFilter

    @extend_schema(request=RunInput, responses={201: RunData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Queue a run against the deployment's active revision."""
        given = self.asked(RunInput)
        run = start_run(
            actor=request.user,
            deployment=get_object_or_404(Deployment, slug=given.pop("deployment")),
            suite=current_suite(given.pop("suite")),
            **given,
        )
        return Response(RunData(run).data, status=201)

    @extend_schema(request=None, responses={202: RunData})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """End a queued run at once; ask a running one to stop."""
        run = self.get_object()
        cancel_run(actor=request.user, run=run)
        return Response(RunData(self.get_object()).data, status=202)

    @extend_schema(request=None, responses={201: RunData}, parameters=[HEADER])
    @action(detail=True, methods=["post"])
    @idempotent
    def repeat(self, request: Request, pk: str) -> Response:
        """The same suite through the same layer again, against what is active now."""
        again = repeat_run(actor=request.user, run=self.get_object())
        return Response(RunData(again).data, status=201)

    @extend_schema(responses=RequestData(many=True), filters=False)
    @action(detail=True, pagination_class=ByIndex, filter_backends=[])
    def requests(self, request: Request, pk: str) -> Response:
        """The run's exchanges, in order."""
        rows = RunRequest.objects.filter(run=self.get_object()).defer("record", "token_offsets")
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(RequestData(page, many=True).data)

    @extend_schema(
        parameters=[OpenApiParameter("after", OpenApiTypes.INT, description="0: from the start")],
        responses=EventPage,
        filters=False,
    )
    @action(detail=True, pagination_class=None, filter_backends=[])
    def events(self, request: Request, pk: str) -> Response:
        """Up to 500 events after number `after`: what the live page follows."""
        return Response(read_page(self.get_object().pk, whole_number(request, "after")))

    @extend_schema(parameters=SERIES, responses=SeriesData, filters=False)
    @action(detail=True, pagination_class=None, filter_backends=[])
    def memory(self, request: Request, pk: str) -> Response:
        """One memory or telemetry series, thinned so that every peak stays."""
        return Response(series_of(self.get_object(), request.query_params.get("name", "")))


def whole_number(request: Request, name: str) -> int:
    """A query parameter from 0 up. Raises ValidationError."""
    text = request.query_params.get(name, "0")
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValidationError({name: "A whole number, 0 or more, of 9 digits at most."})
    return int(text)
