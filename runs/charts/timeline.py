"""One request: each moment on a line of its own, and the arrivals of its token chunks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from runs.charts.axes import HAIR, Bar, Tick, percent, ticks
from runs.models import RunRequest
from runs.storage import unpack_offsets

MAX_MARKS = 400  # token arrivals drawn; more would not be told apart


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
