"""Tables and a chart of a comparison; no difference is claimed that the figures do not show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.compare.contract import Common, Contract, common
from runs.compare.selectors import CLIENT, SERVER, Side
from runs.plots import Axis, Chart, Table, bars, build
from runs.statistics import Difference, Interval, difference_interval, median_interval

SEED = 1
BETTER = {"ttft_ms": -1, "end_ms": -1}  # lower; everything else is better when higher


@dataclass(frozen=True, slots=True)
class Cell:
    """One side's median, and how it differs from the first side."""

    found: Interval | None
    difference: Difference | None
    better: int  # 1 better, -1 worse, 0 nothing that the figures show

    @property
    def words(self) -> str:
        """The difference in words; single values claim nothing."""
        if self.difference is None:
            return ""
        told = f"{self.difference.percent:+.1f} %"
        if self.difference.low is None or self.difference.high is None:
            return f"{told}, single values"
        spread = f"{self.difference.low:+.1f} to {self.difference.high:+.1f}"
        return f"{told} ({spread})" if self.difference.is_real else f"{told} ({spread}): noise"


@dataclass(frozen=True, slots=True)
class Line:
    contract: Contract
    metric: str
    title: str
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class Comparison:
    sides: Sequence[Side]
    common: Common
    lines: list[Line]
    chart: Chart | None

    @property
    def is_refused(self) -> bool:
        return not self.lines

    @property
    def sentence(self) -> str:
        if self.is_refused:
            return "Nothing was measured on all sides under the same conditions."
        real = [line for line in self.lines if any(cell.better for cell in line.cells)]
        return (
            f"{len(self.lines)} figures compared; {len(real)} differ beyond noise. "
            f"{len(self.common.refused)} are left out, each with its reason."
        )


def compare(sides: Sequence[Side], csv_url: str = "") -> Comparison:
    shared = common([(side.name, side.values) for side in sides])
    lines = [
        Line(contract, metric, title, cells_of(sides, contract, metric))
        for contract in shared.same
        for metric, title in titles(contract).items()
        if all(side.values[contract].get(metric) for side in sides)
    ]
    return Comparison(sides, shared, lines, chart_of(sides, lines, csv_url))


def titles(contract: Contract) -> dict[str, str]:
    return CLIENT if contract.origin == "client" else SERVER


def cells_of(sides: Sequence[Side], contract: Contract, metric: str) -> list[Cell]:
    first = sides[0].values[contract][metric]
    cells = [Cell(median_interval(first, seed=SEED), None, 0)]
    for side in sides[1:]:
        values = side.values[contract][metric]
        difference = difference_interval(first, values, seed=SEED) if any(first) else None
        better = 0
        if difference is not None and difference.is_real:
            better = BETTER.get(metric, 1) * (1 if difference.percent > 0 else -1)
        cells.append(Cell(median_interval(values, seed=SEED), difference, better))
    return cells


def chart_of(sides: Sequence[Side], lines: Sequence[Line], csv_url: str) -> Chart | None:
    """TTFT of every shared contract, one bar a side."""
    drawn = [line for line in lines if line.metric == "ttft_ms"]
    if not drawn:
        return None
    names = [line.contract.words for line in drawn]
    traces = []
    for number, side in enumerate(sides):
        found = [line.cells[number].found for line in drawn]
        trace = bars(side.name, names, [f.mid if f else None for f in found], series=number + 1)
        trace.error_y = {
            "type": "data",
            "symmetric": False,
            "array": [f.high - f.mid if f and f.high is not None else 0 for f in found],
            "arrayminus": [f.mid - f.low if f and f.low is not None else 0 for f in found],
        }
        traces.append(trace)
    rows = [
        [line.contract.words, *(round(c.found.mid, 1) if c.found else None for c in line.cells)]
        for line in drawn
    ]
    return Chart(
        key="ttft",
        title="TTFT under the same conditions",
        sentence=f"{len(drawn)} conditions that all sides were measured under.",
        figure=build(traces, x_title="", axes=[Axis("TTFT ms")], height=360, barmode="group"),
        table=Table(["Condition", *(side.name for side in sides)], rows),
        csv_url=csv_url,
        note="Client-measured medians of requests that passed, with 95 % bootstrap intervals.",
    )
