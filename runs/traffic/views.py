"""Pages of reported traffic: all of it, one deployment's, one delivery; and the upload."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from catalog.models import Deployment, Layer
from people.access import Action, may, require
from runs.models import Outcome
from runs.plots.chart import CSV_COLUMNS
from runs.traffic import selectors
from runs.traffic.charts import HOUR, csv_rows, hour_chart, slots
from runs.traffic.forms import UploadForm
from runs.traffic.histogram import percentile
from runs.traffic.models import Batch, Record
from runs.traffic.reading import bounded_lines
from runs.traffic.services import TrafficRefused, ingest
from runs.views import person_of
from runs.views.tables import csv_response

BATCHES_ON_A_PAGE = 30
RECORDS_ON_A_PAGE = 25
CSV_LIMIT = 10_000
WINDOWS = {1: "24 hours", 7: "7 days", 30: "30 days"}
COLUMNS = [
    "at", "route", "status", "outcome", "failure_class", "streamed", "done_seen",
    "finish_reason", "ttft_ms", "wall_ms", "prompt_tokens", "completion_tokens", "error",
    "source", "external_id",
]  # fmt: skip


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Which deployments' real traffic is reported, and what was delivered last?"""
    return overview_page(request, upload_form(request))


def overview_page(
    request: HttpRequest, form: UploadForm | None, *, status: int = 200
) -> HttpResponse:
    page = Paginator(selectors.batches(), BATCHES_ON_A_PAGE).get_page(request.GET.get("page"))
    since = timezone.now() - timedelta(days=7)
    context = {"overviews": selectors.overviews(since), "page": page, "query": "", "form": form}
    return render(request, "traffic/overview.html", context, status=status)


def upload_form(request: HttpRequest, deployment: Deployment | None = None) -> UploadForm | None:
    """For whoever may deliver."""
    if not may(request.user, Action.IMPORT_TRAFFIC):
        return None
    return UploadForm(initial={"deployment": deployment.slug if deployment else None})


@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.IMPORT_TRAFFIC)
    form = UploadForm(request.POST, request.FILES)
    if form.is_valid():
        given = dict(form.cleaned_data)
        lines = bounded_lines(given.pop("file"))
        try:
            report = ingest(actor=person_of(request), lines=lines, **given)
        except TrafficRefused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("traffic-batch", report.batch_id)
    return overview_page(request, form, status=422)


@require_safe
def batch_page(request: HttpRequest, pk: int) -> HttpResponse:
    """What became of this delivery?"""
    batch = get_object_or_404(Batch.objects.select_related("deployment__artifact"), pk=pk)
    return render(request, "traffic/batch.html", {"batch": batch})


@require_safe
def deployment_traffic(request: HttpRequest, slug: str) -> HttpResponse:
    """Does it complete what people really ask of it?"""
    deployment = get_object_or_404(
        Deployment.objects.select_related("artifact", "runtime", "host"), slug=slug
    )
    layers = selectors.layers_seen(deployment)
    layer = chosen(request, "layer", layers) or next(iter(layers), Layer.PROXY)
    outcome = chosen(request, "outcome", Outcome.values)
    if request.GET.get("format") == "csv":
        return records_csv(deployment, layer, outcome)
    days = int(chosen(request, "days", [str(days) for days in WINDOWS]) or 7)
    context = {
        "deployment": deployment,
        "layers": layers,
        "layer": layer,
        "days": days,
        "windows": WINDOWS,
        "outcome": outcome,
        "outcomes": Outcome.choices,
        "batches": selectors.batches(deployment)[:5],
        "form": upload_form(request, deployment),
    }
    drawn = window(deployment, layer, days, f"?layer={layer}&days={days}&csv=hours")
    if request.GET.get("csv"):
        return csv_response(f"{slug}-traffic.csv", CSV_COLUMNS, csv_rows(drawn["chart"]))
    context |= drawn | records(request, deployment, layer, outcome)
    return render(request, "traffic/deployment.html", context)


def chosen(request: HttpRequest, name: str, known: list[str]) -> str:
    value = request.GET.get(name, "")
    return value if value in known else ""


def window(deployment: Deployment, layer: str, days: int, csv_url: str) -> dict[str, Any]:
    """Figures and chart of whole hours up to the one that is going on."""
    end = timezone.now().replace(minute=0, second=0, microsecond=0) + HOUR
    start = end - timedelta(days=days)
    rows = selectors.hours(deployment, layer, start, end)
    counted, ttfts = selectors.added_up(rows)
    return {
        "counted": counted,
        "ttft_n": sum(ttfts.values()),
        "percentiles": [
            (f"TTFT p{share}", percentile(ttfts, share / 100)) for share in (50, 95, 99)
        ],
        "slowest": selectors.slowest(rows),
        "classes": selectors.failure_classes(deployment, layer, start),
        "chart": hour_chart(slots(rows, start, end), csv_url),
    }


def records(
    request: HttpRequest, deployment: Deployment, layer: str, outcome: str
) -> dict[str, Any]:
    """A page of records, and the address of the next."""
    rows = selectors.record_page(
        deployment,
        layer,
        outcome=outcome,
        before=place(request.GET.get("before", "")),
        size=RECORDS_ON_A_PAGE + 1,
    )
    shown = rows[:RECORDS_ON_A_PAGE]
    kept = request.GET.copy()
    kept.pop("before", None)
    context: dict[str, Any] = {"records": shown, "first": kept.urlencode()}
    if len(rows) > len(shown):
        kept["before"] = f"{shown[-1].at.timestamp():.6f}_{shown[-1].pk}"
        context["older"] = kept.urlencode()
    return context


def place(text: str) -> tuple[datetime, int] | None:
    """Where the last page ended. Raises Http404 for what no page wrote."""
    if not text:
        return None
    at, _, pk = text.partition("_")
    try:
        return datetime.fromtimestamp(float(at), UTC), int(pk)
    except (ValueError, OverflowError, OSError):
        raise Http404("There is no such page.") from None


def records_csv(deployment: Deployment, layer: str, outcome: str) -> HttpResponse:
    rows = selectors.record_page(deployment, layer, outcome=outcome, size=CSV_LIMIT)
    return csv_response(f"{deployment.slug}-requests.csv", COLUMNS, map(cells, rows))


def cells(record: Record) -> list[object]:
    return [record.at.isoformat(), *(getattr(record, name) for name in COLUMNS[1:])]
