"""REST: runs, revisions or deployments side by side, and pinned baselines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from people.rest.views import ListResource
from runs.compare.models import Baseline
from runs.compare.reading import Comparison, compare
from runs.compare.selectors import sides_asked, what_differs
from runs.compare.views import numbers


class BaselineData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", read_only=True)
    revision = serializers.IntegerField(source="revision.number", read_only=True)

    class Meta:
        model = Baseline
        fields = ("id", "deployment", "run", "revision", "note", "by_name", "at")


class ComparisonData(serializers.Serializer):
    """`lines`: one figure under one contract, a cell a side. `refused`: what was not compared."""

    sides: Any = serializers.ListField(child=serializers.DictField())
    differs: Any = serializers.ListField(child=serializers.DictField())
    sentence = serializers.CharField()
    lines: Any = serializers.ListField(child=serializers.DictField())
    refused: Any = serializers.ListField(child=serializers.DictField())


def as_data(found: Comparison) -> dict[str, Any]:
    return {
        "sides": [
            {"name": s.name, "deployment": s.deployment.slug, "revision": s.revision.number,
             "runs": list(s.runs), "role": s.role}
            for s in found.sides
        ],
        "differs": [{"title": t, "values": v} for t, v in what_differs(found.sides)],
        "sentence": found.sentence,
        "lines": [
            {"contract": asdict(line.contract), "figure": line.metric,
             "cells": [asdict(cell) for cell in line.cells]}
            for line in found.lines
        ],
        "refused": [asdict(refusal) for refusal in found.common.refused],
    }  # fmt: skip


SIDES = [
    OpenApiParameter("run", OpenApiTypes.INT, many=True),
    OpenApiParameter("revision", OpenApiTypes.INT, many=True),
    OpenApiParameter("deployment", OpenApiTypes.STR, many=True),
]


class Comparisons(ListResource):
    """Two to four sides; only what was measured under the same conditions is compared."""

    queryset = Baseline.objects.none()
    serializer_class = ComparisonData
    pagination_class = None
    filter_backends = ()

    @extend_schema(parameters=SIDES, responses=ComparisonData)
    def list(self, request: Request) -> Response:
        """The first side is what the others are held against."""
        asked = request.query_params
        sides = sides_asked(
            numbers(asked.getlist("run")),
            numbers(asked.getlist("revision")),
            asked.getlist("deployment")[:4],
        )
        if len(sides) < 2:
            raise ValidationError("Name at least two runs, revisions or deployments.")
        return Response(ComparisonData(as_data(compare(sides))).data)


class Baselines(ListResource):
    """What deployments are held against; pinned on a run's page."""

    queryset = Baseline.objects.select_related("deployment", "revision")
    serializer_class = BaselineData
    filterset_fields = {"deployment__slug": ["exact"]}
