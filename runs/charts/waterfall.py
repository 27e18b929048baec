"""Every request of a run at its place on the run's clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.charts.axes import HAIR, Bar, Tick, percent, ticks
from runs.models import RunRequest


@dataclass(frozen=True, slots=True)
class Row:
    request: RunRequest
    bars: list[Bar]


@dataclass(frozen=True, slots=True)
class Waterfall:
    rows: list[Row]
    ticks: list[Tick]


def waterfall(requests: Sequence[RunRequest]) -> Waterfall:
    """Every request at its place in the run, cut into waiting, prefill and decode."""
    span = max((_end_of(request) for request in requests), default=0.0)
    return Waterfall([Row(request, _bars(request, span)) for request in requests], ticks(span))


def _answer(request: RunRequest, sent: float, end: float) -> list[tuple[str, float, float, str]]:
    if not request.streamed:
        return [("whole", sent, end, "whole answer, not streamed")]
    first = request.ttft_ms if request.ttft_ms is not None else end
    return [
        ("prefill", sent, first, "until the first token"),
        ("decode", sent + first, end - first, "from the first token to the end"),
    ]


def _end_of(request: RunRequest) -> float:
    connect = request.record.get("timeline", {}).get("connect_ms") or 0.0
    return request.started_offset_ms + connect + (request.end_ms or 0.0)


def _bars(request: RunRequest, span: float) -> list[Bar]:
    connect = request.record.get("timeline", {}).get("connect_ms") or 0.0
    start, sent = request.started_offset_ms, request.started_offset_ms + connect
    end = request.end_ms or 0.0
    parts = [("connecting", start, connect, "connect"), *_answer(request, sent, end)]
    return [
        Bar(
            percent(100 * at / span),
            percent(max(100 * length / span, HAIR)),
            f"phase-{kind}",
            f"{words}: {length:,.1f} ms",
        )
        for kind, at, length, words in parts
        if length > 0 and span > 0
    ]
