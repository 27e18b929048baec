"""The reading of one sweep, as its page, its CSV and the API show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils.http import urlencode

from catalog.models import Deployment, ImportedFigure
from runs.plots import Chart
from runs.sweeps.models import Sweep, SweepCell
from runs.sweeps.reading.charts import AXES, charts_of, imported_x
from runs.sweeps.reading.findings import Regression, regressions, verdict
from runs.sweeps.reading.places import CellFact, Contract, Place, efficiency, read
from runs.sweeps.selectors import cells_of

KEYS = ("ttft", "throughput", "completion", "memory")


@dataclass(frozen=True, slots=True)
class Report:
    """`sentences` one for each contract; the charts are of the chosen one."""

    contracts: list[tuple[int, Contract]]
    chosen: int
    by: str
    sentences: list[str]
    regressions: list[Regression]
    charts: list[Chart]
    left_out: list[tuple[str, str]]
    places: list[Place]
    imported: list[ImportedFigure]

    @property
    def contract(self) -> Contract:
        return self.contracts[self.chosen][1]


def report_of(
    sweep: Sweep, *, cells: Sequence[SweepCell] | None = None, group: str = "", by: str = ""
) -> Report | None:
    """None while nothing was asked. `group` is the number of a contract, `by` a key of AXES."""
    found = read(fact_of(cell) for cell in (cells if cells is not None else cells_of(sweep)))
    if not any(place.values or place.left_out for places in found.values() for place in places):
        return None
    contracts = list(enumerate(found))
    chosen = int(group) if group.isdecimal() and int(group) < len(contracts) else 0
    places = found[contracts[chosen][1]]
    axis = by if by in AXES else natural_axis(places)
    imported = imported_for(sweep.deployment)
    return Report(
        contracts=contracts,
        chosen=chosen,
        by=axis,
        sentences=[verdict(contract, here) for contract, here in found.items()],
        regressions=[one for here in found.values() for one in regressions(here)],
        charts=charts_of(
            contracts[chosen][1],
            places,
            by=axis,
            csv={key: csv_address(sweep, key, chosen, axis) for key in KEYS},
            imported=imported,
        ),
        left_out=[(place.name, why) for place in places for why in place.left_out],
        places=places,
        imported=imported,
    )


def fact_of(cell: SweepCell) -> CellFact:
    return CellFact(
        runtime_parallel=cell.runtime_parallel,
        client_concurrency=cell.client_concurrency,
        prompt_tokens=cell.prompt_tokens,
        cache=cell.cache,
        state=cell.state,
        outcome=cell.outcome,
        failure_class=cell.failure_class,
        reason=cell.skip_reason or cell.explanation,
        figures=cell.figures,
    )


def natural_axis(places: Iterable[Place]) -> str:
    """Whichever has more values."""
    here = list(places)
    slots = {place.runtime_parallel for place in here}
    clients = {place.client_concurrency for place in here}
    return "parallel" if len(slots) >= len(clients) and len(slots) > 1 else "clients"


def csv_address(sweep: Sweep, key: str, group: int, by: str) -> str:
    query = urlencode({"group": str(group), "by": by})
    return f"{reverse('sweep-chart-csv', args=[sweep.pk, key])}?{query}"


def imported_for(deployment: Deployment) -> list[ImportedFigure]:
    """A report's figures over runtime parallel: shown beside measured ones, and never joined."""
    about = Q(metric="ttft_mean_s", workload__contains=", p") | Q(
        metric="wall_s", workload__icontains="NUM_PARALLEL"
    )
    rows = ImportedFigure.objects.filter(about, deployment=deployment)
    return [row for row in rows if imported_x(row) is not None]


def as_data(report: Report | None) -> dict[str, Any]:
    """For the API: sentences and every place with its medians."""
    if report is None:
        return {"sentences": [], "regressions": [], "places": []}
    return {
        "sentences": report.sentences,
        "regressions": [one.sentence for one in report.regressions],
        "places": [place_data(report, place) for place in report.places],
    }


def place_data(report: Report, place: Place) -> dict[str, Any]:
    medians = {name: place.interval(name) for name in place.values}
    return {
        "runtime_parallel": place.runtime_parallel,
        "client_concurrency": place.client_concurrency,
        "contract": report.contract.words,
        "completed": place.completed,
        "asked": place.asked,
        "scaling_efficiency": efficiency(report.places, place),
        "left_out": list(place.left_out),
        "medians": {
            name: {"mid": found.mid, "low": found.low, "high": found.high, "n": found.n}
            for name, found in medians.items()
            if found
        },
    }
