"""The list of runs, and the same list as CSV."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from catalog.models import Deployment
from runs.filters import RunFilter
from runs.models import Outcome, Run, RunState
from runs.selectors import current_suites, listed_runs, median_ttft_by_run
from runs.views.tables import csv_response

PER_PAGE = 50
CSV_LIMIT = 10_000
COLUMNS = [
    "run",
    "state",
    "outcome",
    "failure_class",
    "deployment",
    "revision",
    "suite",
    "suite_version",
    "layer",
    "host",
    "requests",
    "ttft_median_ms",
    "ttft_n",
    "started_at_utc",
    "duration_s",
    "requested_by",
]


@dataclass(frozen=True, slots=True)
class Line:
    run: Run
    ttft_ms: float | None
    ttft_n: int

    @property
    def mark(self) -> str:
        """The outcome, or the state while there is none."""
        return self.run.outcome or self.run.state

    @property
    def duration_s(self) -> float | None:
        if self.run.started_at is None:
            return None
        until = self.run.finished_at or timezone.now()
        return (until - self.run.started_at).total_seconds()


@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    filters = RunFilter(request.GET, listed_runs())
    runs = filters.qs if filters.is_valid() else listed_runs().none()
    if request.GET.get("format") == "csv":
        return csv_response("runs.csv", COLUMNS, map(_cells, lines(runs[:CSV_LIMIT])))
    page = Paginator(runs, PER_PAGE).get_page(request.GET.get("page"))
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "page": page,
        "lines": lines(page.object_list),
        "query": f"{kept.urlencode()}&" if kept else "",
        "chosen": {name: request.GET.get(name, "") for name in RunFilter.base_filters},
        "is_filtered": any(request.GET.get(name) for name in RunFilter.base_filters),
        "states": RunState.choices,
        "outcomes": Outcome.choices,
        "suites": current_suites(),
        "deployments": Deployment.objects.filter(runs__isnull=False).distinct(),
        "classes": _classes(),
    }
    return render(request, "runs/run_list.html", context)


def lines(runs: Iterable[Run]) -> list[Line]:
    shown = list(runs)
    medians = median_ttft_by_run([run.pk for run in shown])
    return [Line(run, *medians.get(run.pk, (None, 0))) for run in shown]


def _classes() -> list[str]:
    seen = Run.objects.exclude(failure_class="").order_by("failure_class")
    return list(seen.values_list("failure_class", flat=True).distinct())


def _cells(line: Line) -> list[object]:
    run = line.run
    return [
        run.pk,
        run.state,
        run.outcome,
        run.failure_class,
        run.deployment.slug,
        run.revision.number,
        run.suite.key,
        run.suite.version,
        run.layer,
        run.host.key,
        run.planned_requests,
        "" if line.ttft_ms is None else round(line.ttft_ms, 3),
        line.ttft_n or "",
        run.started_at.isoformat() if run.started_at else "",
        "" if line.duration_s is None else round(line.duration_s, 3),
        run.requested_by_name,
    ]
