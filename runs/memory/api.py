"""REST: memory of runs, and what prompts cost in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from people.rest.views import ListResource
from runs.memory.metrics import METRICS, best_figure
from runs.memory.models import GrowthPoint
from runs.memory.reading import read_series, series_names
from runs.models import Run

SERIES = [
    OpenApiParameter(
        "name", str, enum=sorted(METRICS), description="left out: the figure that says most"
    )
]


class SeriesData(serializers.Serializer):
    """`values` are null where nothing was seen. `present`: the series that there are."""

    name = serializers.CharField()
    unit = serializers.CharField()
    origin = serializers.CharField()
    samples = serializers.IntegerField()
    step_ms = serializers.IntegerField()
    times_ms: Any = serializers.ListField(child=serializers.FloatField())
    values: Any = serializers.ListField(child=serializers.FloatField(allow_null=True))
    present: Any = serializers.ListField(child=serializers.CharField())


def series_of(run: Run, name: str) -> dict[str, object]:
    """A series as `SeriesData`, empty where nothing was sampled. Raises ValidationError."""
    present = series_names(run.pk)
    metric = METRICS.get(name or best_figure(present) or "rss_bytes")
    if metric is None:
        raise ValidationError({"name": f"One of {', '.join(sorted(METRICS))}."})
    series = read_series(run.pk, metric.key)
    return {
        "name": metric.key,
        "unit": metric.unit,
        "origin": metric.origin,
        "samples": series.samples,
        "step_ms": series.step_ms,
        "times_ms": [round(float(t), 3) for t in series.times_ms],
        "values": [None if np.isnan(value) else float(value) for value in series.values],
        "present": sorted(present),
    }


class GrowthData(serializers.ModelSerializer):
    """Bytes are of `figure`, of the server's whole process tree."""

    deployment = serializers.CharField(source="run.deployment.slug", read_only=True)

    class Meta:
        model = GrowthPoint
        fields = (
            "id", "run", "deployment", "request_index", "prompt_tokens", "is_clean", "figure",
            "before_bytes", "peak_bytes", "retained_bytes", "after_repeat_bytes",
            "after_other_bytes",
        )  # fmt: skip


class Growth(ListResource):
    """What each long fresh prompt did to the server's memory."""

    queryset = GrowthPoint.objects.select_related("run__deployment")
    serializer_class = GrowthData
    filterset_fields = {
        "run__deployment__slug": ["exact"],
        "run__revision__fingerprint": ["exact"],
        "is_clean": ["exact"],
    }
