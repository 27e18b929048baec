"""What a longer prompt costs: prefill time and prompt rate against prompt size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from runs.charts.axes import Tick, percent, ticks
from runs.models import Outcome, RunRequest
from runs.templatetags.figures import grouped, tokens_short

CHECKS = ("long", "repeat")  # what these ask is as long as it is on purpose
SERIES = ("fresh", "repeat")  # never one line
HEADROOM = 1.08


@dataclass(frozen=True, slots=True)
class Point:
    x: str
    y: str
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """A series of the picture: its points from left to right, and what joins them."""

    kind: str
    points: list[Point]

    @property
    def joins(self) -> list[tuple[Point, Point]]:
        return list(pairwise(self.points))


@dataclass(frozen=True, slots=True)
class Plot:
    title: str
    lines: list[Line]
    across: list[Tick]
    up: list[Tick]


def prompt_plots(requests: Sequence[RunRequest]) -> list[Plot]:
    """Prefill seconds and prompt tok/s (client), or nothing with fewer than two prompt sizes."""
    told = [r for r in requests if r.check_key in CHECKS and _is_told(r)]
    if len({r.prompt_tokens for r in told if r.cache == "fresh"}) < 2:
        return []
    prefill = {r.pk: (r.ttft_ms or 0.0) / 1000 for r in told}
    rate = {r.pk: (r.prompt_tokens or 0) / prefill[r.pk] for r in told}
    return [
        _plot("Prefill, s", told, prefill, "s"),
        # A repeat's prompt is not read again, so that it has no rate.
        _plot("Prompt rate, tok/s", [r for r in told if r.cache == "fresh"], rate, "tok/s"),
    ]


def _is_told(request: RunRequest) -> bool:
    passed = request.outcome == Outcome.CLEAN_PASS
    return bool(passed and request.ttft_ms and request.prompt_tokens)


def _plot(title: str, requests: list[RunRequest], values: dict[int, float], unit: str) -> Plot:
    widest = HEADROOM * max(r.prompt_tokens or 0 for r in requests)
    highest = HEADROOM * max(values[r.pk] for r in requests)
    lines = [
        Line(
            kind, [_point(r, values[r.pk], widest, highest, unit) for r in _sorted(requests, kind)]
        )
        for kind in SERIES
    ]
    across = ticks(widest, label=lambda tokens: tokens_short(round(tokens)))
    up = [
        Tick(percent(100 - float(tick.x[:-1])), tick.label)
        for tick in ticks(highest, label=grouped_axis)
    ]
    return Plot(title, [line for line in lines if line.points], across, up)


def grouped_axis(value: float) -> str:
    return grouped(value) if value >= 1000 else f"{value:g}"


def _sorted(requests: list[RunRequest], kind: str) -> list[RunRequest]:
    return sorted((r for r in requests if r.cache == kind), key=lambda r: r.prompt_tokens or 0)


def _point(request: RunRequest, value: float, widest: float, highest: float, unit: str) -> Point:
    tokens = request.prompt_tokens or 0
    return Point(
        percent(100 * tokens / widest),
        percent(100 - 100 * value / highest),
        f"{request.cache}, {tokens:,} tokens: {value:,.{0 if value >= 100 else 2}f} {unit}",
    )
