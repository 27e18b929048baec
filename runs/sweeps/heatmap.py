"""A sweep as tables that fill: runtime parallel down, client concurrency across."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.utils.safestring import SafeString

from runs.models import Outcome
from runs.sweeps.models import CellState, Sweep, SweepCell
from runs.templatetags.figures import bytes_gib, ms, number

STEPS = 6  # of the scale; colours are in sweeps.css


@dataclass(frozen=True, slots=True)
class Metric:
    """What the heat-map shows. `low_is_good` turns the scale."""

    key: str
    title: str
    value: Callable[[dict[str, Any]], float | None]
    shown: Callable[[float], SafeString]
    low_is_good: bool = True


def p50_of(figures: dict[str, Any], name: str) -> float | None:
    spread = figures.get(name)
    return spread["p50"] if spread else None


METRICS = {
    metric.key: metric
    for metric in (
        Metric("ttft", "TTFT, median", lambda f: p50_of(f, "ttft_ms"), ms),
        Metric("total", "Whole request, median", lambda f: p50_of(f, "end_ms"), ms),
        Metric(
            "throughput", "Throughput of all", lambda f: f.get("aggregate_tps"),
            lambda value: number(value, "tok/s"), low_is_good=False,
        ),
        Metric(
            "requests", "Requests per second", lambda f: f.get("requests_per_s"),
            lambda value: number(value, "/s"), low_is_good=False,
        ),
        Metric(
            "memory", "Peak memory", lambda f: f.get("peak_rss_bytes"),
            lambda value: bytes_gib(int(value)),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Square:
    """One place of the grid with all its repeats. `heat` is 1 (best) to STEPS, 0 without."""

    cells: list[SweepCell]
    value: float | None
    shown: SafeString | None
    heat: int

    @property
    def state(self) -> str:
        """The liveliest of its cells: what still moves is told before what is over."""
        states = {cell.state for cell in self.cells}
        order = (CellState.RUNNING, CellState.WAITING, CellState.FAILED, CellState.DONE)
        return next((str(state) for state in order if state in states), str(CellState.SKIPPED))

    @property
    def finished(self) -> list[SweepCell]:
        return [cell for cell in self.cells if cell.state == CellState.DONE]

    @property
    def completed(self) -> int:
        return sum(cell.figures.get("completed", 0) for cell in self.finished)

    @property
    def asked(self) -> int:
        return sum(cell.figures.get("asked", 0) for cell in self.finished)

    @property
    def outcome(self) -> str:
        """The worst of its cells; empty while none is over."""
        order = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.DEGRADED, Outcome.CLEAN_PASS)
        known = {cell.outcome for cell in self.cells}
        return next((str(outcome) for outcome in order if outcome in known), "")

    @property
    def is_client_limited(self) -> bool:
        return any(cell.figures.get("client_limited") for cell in self.finished)

    @property
    def reason(self) -> str:
        """Why there is no figure."""
        texts = (cell.skip_reason or cell.explanation for cell in self.cells)
        return next((text for text in texts if text), "")


@dataclass(frozen=True, slots=True)
class Line:
    runtime_parallel: int | None
    squares: list[Square]


@dataclass(frozen=True, slots=True)
class Heatmap:
    """One prompt size, fresh or repeat: these never share a table."""

    prompt_tokens: int | None
    cache: str
    clients: list[int]
    lines: list[Line]


def heatmaps(sweep: Sweep, cells: Iterable[SweepCell], metric: Metric) -> list[Heatmap]:
    """All tables of a sweep share one scale for each size and kind of prompt."""
    places: dict[tuple[int | None, str], dict[tuple[int | None, int], list[SweepCell]]]
    places = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        kind = (cell.prompt_tokens, cell.cache)
        places[kind][(cell.runtime_parallel, cell.client_concurrency)].append(cell)
    kinds = sorted(places, key=lambda kind: (kind[0] or 0, kind[1]))
    return [heatmap(kind, places[kind], metric) for kind in kinds]


def heatmap(
    kind: tuple[int | None, str],
    places: dict[tuple[int | None, int], list[SweepCell]],
    metric: Metric,
) -> Heatmap:
    values = {place: value_of(cells, metric) for place, cells in places.items()}
    known = [value for value in values.values() if value is not None]
    parallels = sorted({parallel for parallel, _ in places}, key=lambda parallel: parallel or 0)
    clients = sorted({client for _, client in places})
    lines = [
        Line(
            parallel,
            [square(places[parallel, c], values[parallel, c], known, metric) for c in clients],
        )
        for parallel in parallels
    ]
    return Heatmap(kind[0], kind[1], clients, lines)


def value_of(cells: Iterable[SweepCell], metric: Metric) -> float | None:
    """Median over repeats; client-limited cells are no evidence."""
    told = [
        metric.value(c.figures) for c in cells if c.figures and not c.figures["client_limited"]
    ]
    known = [value for value in told if value is not None]
    return median(known) if known else None


def square(
    cells: list[SweepCell], value: float | None, known: list[float], metric: Metric
) -> Square:
    shown = None if value is None else metric.shown(value)
    return Square(cells, value, shown, heat_of(value, known, metric.low_is_good))


def heat_of(value: float | None, known: list[float], low_is_good: bool) -> int:
    """Where it lies between best and worst; one value alone says nothing of good or bad."""
    if value is None or not known or max(known) == min(known):
        return 0
    share = (value - min(known)) / (max(known) - min(known))
    return 1 + round((share if low_is_good else 1 - share) * (STEPS - 1))
