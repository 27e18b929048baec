"""REST: sweeps, their cells and what they tell."""

from __future__ import annotations

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
from runs.launch.arguments import RANGES, Parameters
from runs.launch.models import LaunchProfile
from runs.sweeps import services
from runs.sweeps.grid import MOST_REPEATS, Grid, GridRefused
from runs.sweeps.models import Cache, Sweep, SweepCell
from runs.sweeps.planning import MAX_TIMEOUT_S, MIN_TIMEOUT_S, MOST_FAILURES
from runs.sweeps.reading.report import as_data, report_of
from runs.sweeps.services import MOST_SEEDS, SweepRefused

tell_as_conflict(SweepRefused)
tell_as_conflict(GridRefused)

MOST_VALUES = 16


def numbers(most: int, **more: Any) -> Any:
    one = serializers.IntegerField(min_value=1, max_value=most)
    return serializers.ListField(child=one, max_length=MOST_VALUES, **more)


class SweepData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", read_only=True)
    profile = serializers.SlugRelatedField("key", read_only=True, allow_null=True)

    class Meta:
        model = Sweep
        fields = (
            "id", "deployment", "profile", "layer", "workload", "grid", "seed", "state",
            "explanation", "note", "requested_by_name", "created_at", "started_at", "finished_at",
        )  # fmt: skip


class SweepInput(serializers.Serializer):
    """Without a profile somebody else runs the server, and only client concurrency is swept."""

    deployment = serializers.SlugField(max_length=120)
    profile = serializers.SlugField(max_length=60, required=False)
    layer = serializers.ChoiceField(Layer.choices, default=Layer.DIRECT)
    runtime_parallel = numbers(1024, required=False)
    client_concurrency = numbers(1024)
    prompt_tokens = numbers(2_000_000, required=False)
    caches: Any = serializers.ListField(
        child=serializers.ChoiceField(Cache.choices), max_length=2, required=False
    )
    repeats = serializers.IntegerField(min_value=1, max_value=MOST_REPEATS, default=1)
    context_per_slot = serializers.IntegerField(
        min_value=RANGES["context_per_slot"][0],
        max_value=RANGES["context_per_slot"][1],
        required=False,
    )
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEEDS - 1, required=False)
    cell_timeout_s = serializers.IntegerField(
        min_value=MIN_TIMEOUT_S, max_value=MAX_TIMEOUT_S, default=900
    )
    max_failures = serializers.IntegerField(min_value=1, max_value=MOST_FAILURES, default=5)
    note = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")


class CellData(serializers.ModelSerializer):
    class Meta:
        model = SweepCell
        fields = (
            "id", "sweep", "position", "runtime_parallel", "client_concurrency", "prompt_tokens",
            "cache", "repeat", "state", "skip_reason", "run", "outcome", "failure_class",
            "explanation", "figures", "attempts", "started_at", "finished_at",
        )  # fmt: skip


class ReadingData(serializers.Serializer):
    """What the figures support in words, and the medians of each place."""

    sentences: Any = serializers.ListField(child=serializers.CharField())
    regressions: Any = serializers.ListField(child=serializers.CharField())
    places: Any = serializers.ListField(child=serializers.DictField())


GRID = ("runtime_parallel", "client_concurrency", "prompt_tokens", "caches")


class Sweeps(ReadResource):
    """Runs over a grid of runtime parallel, client concurrency and prompt size."""

    queryset = Sweep.objects.select_related("deployment", "profile")
    serializer_class = SweepData
    filterset_fields = {"state": ["exact"], "deployment__slug": ["exact"]}

    @extend_schema(request=SweepInput, responses={201: SweepData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Plan every cell and queue the sweep."""
        given = self.asked(SweepInput)
        deployment = get_object_or_404(Deployment, slug=given.pop("deployment"))
        key = given.pop("profile", None)
        profile = get_object_or_404(LaunchProfile, key=key) if key else None
        axes: dict[str, Any] = {name: tuple(given.pop(name)) for name in GRID if name in given}
        per_slot = given.pop("context_per_slot", None)
        made = services.start_sweep(
            actor=request.user,
            deployment=deployment,
            profile=profile,
            grid=Grid(**axes, repeats=given.pop("repeats")),
            base=Parameters(context_per_slot=per_slot) if per_slot else None,
            **given,
        )
        return Response(SweepData(made).data, status=201)

    @extend_schema(responses=ReadingData, filters=False)
    @action(detail=True, pagination_class=None, filter_backends=[])
    def reading(self, request: Request, pk: str) -> Response:
        """Does parallel help? Sentences, and medians with their intervals."""
        return Response(ReadingData(as_data(report_of(self.get_object()))).data)

    @extend_schema(request=None, responses=SweepData)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """After the running cell; its server is stopped."""
        services.pause_sweep(actor=request.user, sweep=self.get_object())
        return Response(SweepData(self.get_object()).data)

    @extend_schema(request=None, responses=SweepData)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Go on with the cells that are left."""
        services.resume_sweep(actor=request.user, sweep=self.get_object())
        return Response(SweepData(self.get_object()).data)

    @extend_schema(request=None, responses=SweepData)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Break the running cell off; finished ones stay."""
        services.cancel_sweep(actor=request.user, sweep=self.get_object())
        return Response(SweepData(self.get_object()).data)


class Cells(ListResource):
    """Each place of a sweep's grid, once for each repeat."""

    queryset = SweepCell.objects.order_by("-pk")
    serializer_class = CellData
    filterset_fields = {"sweep": ["exact"], "state": ["exact"]}
