"""Pictures of a run and of a request, as positions in percent that a template draws as SVG.

Percentages keep text readable at any width, and presentation attributes need no inline style.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.models import RunRequest
from runs.storage import unpack_offsets

MAX_MARKS = 400  # token arrivals drawn; more would not be told apart
HAIR = 0.25  # percent: the least width that can be seen


@dataclass(frozen=True, slots=True)
class Bar:
    """`x` and `width` are percentages, ready for an attribute; `kind` is its CSS class."""

    x: str
    width: str
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    label: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Row:
    request: RunRequest
    bars: list[Bar]


@dataclass(frozen=True, slots=True)
class Waterfall:
    rows: list[Row]
    ticks: list[Tick]


@dataclass(frozen=True, slots=True)
class Mark:
    """One moment of a request: `shown` is its time in words, None where it was not seen."""

    key: str
    title: str
    ms: float | None
    bar: Bar | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class RequestPicture:
    marks: list[Mark]
    arrivals: list[str]  # x of token chunks
    ticks: list[Tick] = field(default_factory=list)
    summary: str = ""


def percent(value: float) -> str:
    return f"{value:.3f}%"


def duration_label(ms: float) -> str:
    return f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:g} s"


def ticks(span_ms: float, at_most: int = 4) -> list[Tick]:
    """Round steps of 1, 2 or 5 from zero to the span."""
    if span_ms <= 0:
        return []
    raw = span_ms / at_most
    size = 10 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw)
    places = range(int(span_ms / step) + 1)
    return [
        Tick(
            percent(100 * place * step / span_ms),
            duration_label(round(place * step, 6)),
            "start" if place == 0 else "middle" if place * step < 0.96 * span_ms else "end",
        )
        for place in places
    ]


def waterfall(requests: Sequence[RunRequest]) -> Waterfall:
    """Every request at its place in the run, cut into waiting, prefill and decode."""
    span = max((_end_of(request) for request in requests), default=0.0)
    return Waterfall([Row(request, _bars(request, span)) for request in requests], ticks(span))


def _end_of(request: RunRequest) -> float:
    connect = request.record.get("timeline", {}).get("connect_ms") or 0.0
    return request.started_offset_ms + connect + (request.end_ms or 0.0)


def _bars(request: RunRequest, span: float) -> list[Bar]:
    connect = request.record.get("timeline", {}).get("connect_ms") or 0.0
    start, sent = request.started_offset_ms, request.started_offset_ms + connect
    end = request.end_ms or 0.0
    first = request.ttft_ms if request.ttft_ms is not None else end
    parts = [
        ("connecting", start, connect, "connect"),
        ("prefill", sent, first, "until the first token"),
        ("decode", sent + first, end - first, "from the first token to the end"),
    ]
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


MOMENTS = (
    ("headers_ms", "Headers", "no response headers came"),
    ("first_byte_ms", "First byte", "no body came"),
    ("first_event_ms", "First event", "no stream event came"),
    ("first_reasoning_ms", "First reasoning", "it said no reasoning"),
    ("first_content_ms", "First content", "it said no content"),
    ("first_tool_ms", "First tool call", "it called no tool"),
    ("last_token_ms", "Last token", "no token came"),
    ("end_ms", "End", "the end was not seen"),
)


def request_picture(request: RunRequest) -> RequestPicture:
    """Each moment on a line of its own, so that close ones never hide each other."""
    timeline: dict[str, Any] = request.record.get("timeline", {})
    connect = timeline.get("connect_ms") or 0.0
    span = connect + (timeline.get("end_ms") or 0.0)
    marks = [_connect_mark(timeline.get("connect_ms"), span)]
    for key, title, missing in MOMENTS:
        ms = timeline.get(key)
        bar = None if ms is None else _bar(connect, ms, span, f"moment-{key[:-3]}", title)
        marks.append(Mark(key[:-3], title, ms, bar, missing))
    offsets = unpack_offsets(request.token_offsets)
    step = max(1, math.ceil(len(offsets) / MAX_MARKS))
    arrivals = [percent(100 * (connect + at) / span) for at in offsets[::step]] if span else []
    return RequestPicture(marks, arrivals, ticks(span), _summary(marks, len(offsets)))


def _connect_mark(ms: float | None, span: float) -> Mark:
    bar = None if ms is None else _bar(0.0, ms, span, "phase-connecting", "Connect")
    return Mark("connect", "Connect", ms, bar, "no connection of its own was made")


def _bar(start: float, length: float, span: float, kind: str, title: str) -> Bar | None:
    if span <= 0:
        return None
    width = percent(max(100 * length / span, HAIR))
    return Bar(percent(100 * start / span), width, kind, f"{title}: {length:,.3f} ms")


def _summary(marks: list[Mark], chunks: int) -> str:
    """The picture in words, for those who do not see it."""
    seen = [f"{mark.title.lower()} {mark.ms:,.1f} ms" for mark in marks if mark.ms is not None]
    return f"Timeline: {', '.join(seen) or 'nothing was seen'}; {chunks} token chunks."


@dataclass(frozen=True, slots=True)
class MemoryPicture:
    """`points` of a polyline in a 100 x 100 box; bytes are of the server's process tree."""

    points: str
    first_bytes: int
    peak_bytes: int
    last_bytes: int
    n: int


def memory_picture(series: list[tuple[float, int]]) -> MemoryPicture | None:
    """The server's resident memory over the run; the axis begins at zero."""
    if not series:
        return None
    values = [value for _, value in series]
    start, span = series[0][0], max(series[-1][0] - series[0][0], 1.0)
    top = max(values) * 1.1
    points = " ".join(
        f"{100 * (at - start) / span:.2f},{100 - 100 * value / top:.2f}" for at, value in series
    )
    return MemoryPicture(points, values[0], max(values), values[-1], len(values))
