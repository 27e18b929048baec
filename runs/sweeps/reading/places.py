"""The places of a grid, each with the figures of its repeats. Pure, over stored cell figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.statistics import Interval, median_interval

SEED = 1
SPREADS = ("mean", "p50", "p95", "max")


@dataclass(frozen=True, slots=True)
class CellFact:
    """What a reading needs of one cell. `figures` is `runs.sweeps.figures.CellFigures` or {}."""

    runtime_parallel: int | None
    client_concurrency: int
    prompt_tokens: int | None
    cache: str
    state: str
    outcome: str = ""
    failure_class: str = ""
    reason: str = ""
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contract:
    """What places share when they may stand on one axis: never fresh beside repeat."""

    prompt_tokens: int | None
    cache: str

    @property
    def words(self) -> str:
        size = f"{self.prompt_tokens:,} tokens" if self.prompt_tokens else "short prompts"
        return f"{size}, {'exact repeat' if self.cache == 'repeat' else self.cache}"


@dataclass(frozen=True, slots=True)
class Place:
    """One runtime parallel and client concurrency. Values are one for each counted repeat."""

    runtime_parallel: int | None
    client_concurrency: int
    values: dict[str, list[float]]
    completed: int
    asked: int
    left_out: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        slots = f"p{self.runtime_parallel}" if self.runtime_parallel else "server"
        return f"{slots} x {self.client_concurrency}"

    @property
    def completion(self) -> float | None:
        """Share of requests that completed, of all that the plan asked for."""
        return self.completed / self.asked if self.asked else None

    def interval(self, metric: str) -> Interval | None:
        values = self.values.get(metric)
        return median_interval(values, seed=SEED) if values else None

    def mid(self, metric: str) -> float | None:
        found = self.interval(metric)
        return found.mid if found else None


def read(cells: Iterable[CellFact]) -> dict[Contract, list[Place]]:
    """By contract, then by runtime parallel and client concurrency."""
    groups: dict[Contract, dict[tuple[int, int], list[CellFact]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for cell in cells:
        contract = Contract(cell.prompt_tokens, cell.cache)
        groups[contract][(cell.runtime_parallel or 0, cell.client_concurrency)].append(cell)
    ordered = sorted(groups, key=lambda c: (c.prompt_tokens or 0, c.cache))
    return {
        contract: [place_of(found) for _, found in sorted(groups[contract].items())]
        for contract in ordered
    }


def place_of(cells: Sequence[CellFact]) -> Place:
    """Rates and times only of cells that count; completion of every cell that was asked."""
    values: dict[str, list[float]] = defaultdict(list)
    left_out: list[str] = []
    for cell in cells:
        if why := not_counted(cell):
            left_out.append(why)
            continue
        for name, value in flat(cell.figures).items():
            values[name].append(value)
    asked = [cell for cell in cells if cell.figures and not cell.figures.get("client_limited")]
    return Place(
        runtime_parallel=cells[0].runtime_parallel,
        client_concurrency=cells[0].client_concurrency,
        values=dict(values),
        completed=sum(cell.figures["completed"] for cell in asked),
        asked=sum(cell.figures["asked"] for cell in asked),
        left_out=tuple(left_out),
    )


def not_counted(cell: CellFact) -> str:
    """Why a cell enters no average; nothing for one that does."""
    if cell.state == "skipped":
        return f"skipped: {cell.reason}"
    if cell.state == "failed" or not cell.figures:
        return f"no result: {cell.failure_class or cell.reason or cell.state}"
    if cell.figures.get("client_limited"):
        return "client-limited: our own side did not keep up"
    if cell.outcome != "clean_pass":
        return f"{cell.outcome.replace('_', ' ')}: {cell.failure_class.replace('_', ' ')}"
    return ""


def flat(figures: dict[str, Any]) -> dict[str, float]:
    """Every number of a cell under one name with its unit."""
    found: dict[str, float | None] = {
        name: figures.get(name)
        for name in (
            "aggregate_tps", "per_request_tps", "requests_per_s", "peak_rss_bytes",
            "retained_bytes",
        )
    }  # fmt: skip
    for spread, prefix in (("ttft_ms", "ttft"), ("end_ms", "end")):
        told = figures.get(spread) or {}
        found |= {f"{prefix}_{name}_ms": told.get(name) for name in SPREADS}
    return {name: float(value) for name, value in found.items() if value is not None}


def efficiency(places: Sequence[Place], place: Place) -> float | None:
    """Aggregate throughput against p1 at as many clients, over the number of slots.

    1 is perfect scaling, 1/slots none at all. None without a p1 place to compare with.
    """
    base = next(
        (
            one
            for one in places
            if one.runtime_parallel == 1 and one.client_concurrency == place.client_concurrency
        ),
        None,
    )
    before = base.mid("aggregate_tps") if base else None
    after = place.mid("aggregate_tps")
    if not before or after is None or not place.runtime_parallel:
        return None
    return after / before / place.runtime_parallel
