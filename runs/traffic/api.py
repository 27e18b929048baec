"""REST: what proxies report of a deployment's real traffic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Deployment
from people.rest.problems import tell_as_conflict
from people.rest.views import SLUG, ListResource
from runs.traffic.models import Batch
from runs.traffic.reading import bounded_lines
from runs.traffic.selectors import batches
from runs.traffic.services import LAYERS, LONGEST_SOURCE, TrafficRefused, ingest

NDJSON = "application/x-ndjson"
SLUG_PARAMETER = OpenApiParameter(
    "slug", str, OpenApiParameter.PATH, description="deployment", pattern=f"^{SLUG}$"
)

tell_as_conflict(TrafficRefused)


class LineParser(BaseParser):
    """Lines as they arrive; the whole is never in memory."""

    media_type = NDJSON

    def parse(
        self, stream: Any, media_type: object = None, parser_context: object = None
    ) -> Iterator[bytes]:
        return bounded_lines(stream)


class RefusalData(serializers.Serializer):
    line = serializers.IntegerField()
    why = serializers.CharField()


class BatchData(serializers.ModelSerializer):
    """`finished_at` is null for one that broke off: send it again."""

    deployment = serializers.SlugRelatedField("slug", read_only=True)
    refusals: Any = RefusalData(many=True, read_only=True)

    class Meta:
        model = Batch
        fields = (
            "id", "deployment", "layer", "source", "received_at", "finished_at", "by_name",
            "lines", "accepted", "duplicates", "refused", "refusals", "digest",
        )  # fmt: skip


class ReportData(serializers.Serializer):
    """`refusals` tells the first 100. `is_cut`: more lines came than one delivery may have."""

    batch_id = serializers.IntegerField()
    lines = serializers.IntegerField()
    accepted = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    refused = serializers.IntegerField()
    refusals: Any = RefusalData(many=True)
    is_cut = serializers.BooleanField()


class DeliveryInput(serializers.Serializer):
    """Named in the address, since the body holds records only."""

    layer = serializers.ChoiceField([layer.value for layer in LAYERS], default="proxy")
    source = serializers.CharField(max_length=LONGEST_SOURCE, help_text="which proxy says so")


@extend_schema(parameters=[SLUG_PARAMETER])
class Traffic(ListResource):
    """Deliveries of completed-request records. Origin of their figures: server."""

    serializer_class = BatchData
    parser_classes = [LineParser]
    filterset_fields = {"layer": ["exact"], "source": ["exact"]}
    queryset = batches()

    def get_queryset(self) -> QuerySet[Batch]:
        return batches(self.deployment()) if "slug" in self.kwargs else Batch.objects.none()

    def deployment(self) -> Deployment:
        return get_object_or_404(
            Deployment.objects.select_related("artifact"), slug=self.kwargs["slug"]
        )

    @extend_schema(
        parameters=[DeliveryInput],
        request={NDJSON: {"type": "string", "description": "one record a line"}},
        responses=ReportData,
    )
    def create(self, request: Request, slug: str) -> Response:
        """Take in records, one JSON object a line; each once by its `id`, whoever sends it again.

        Lines that are refused do no harm to the others; the report tells which and why.
        """
        given = DeliveryInput(data=request.query_params)
        given.is_valid(raise_exception=True)
        report = ingest(
            actor=request.user,
            deployment=self.deployment(),
            lines=request.data or (),
            **given.validated_data,
        )
        return Response(ReportData(asdict(report)).data)
