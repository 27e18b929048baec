"""One run, live until it is over and then its result; and one of its requests."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from runs.charts.prompts import prompt_plots
from runs.charts.timeline import request_picture
from runs.charts.waterfall import waterfall
from runs.estimates import estimate_cost
from runs.explain import explain
from runs.figures import fresh_beside_repeat, request_figures, server_figures
from runs.follow import read_page, status_of
from runs.memory.run_chart import memory_facts, not_observed, run_chart
from runs.models import Run, RunRequest, RunState
from runs.selectors import twin_of
from runs.views.tables import csv_response


@require_GET
@never_cache
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(
        Run.objects.select_related(
            "deployment", "revision", "suite", "host", "endpoint", "repeats"
        ),
        pk=pk,
    )
    context: dict[str, Any] = {"run": run, "repeated_by": run.repeated_by.order_by("pk")}
    if run.state == RunState.FINISHED:
        return render(request, "runs/run_result.html", context | _result(run))
    estimate = estimate_cost(run.deployment, run.suite, run.layer)
    context |= {"status": status_of(run), "estimate": estimate}
    return render(request, "runs/run_live.html", context)


def _result(run: Run) -> dict[str, Any]:
    requests = list(run.requests.order_by("index"))
    report = run.report
    return {
        "explained": explain(run.failure_class),
        "requests": requests,
        "waterfall": waterfall(requests),
        "prompt_plots": prompt_plots(requests),
        "checks": report.get("checks", []),
        "identities": _identities(report),
        "instrument": {k: v for k, v in report.get("instrument", {}).items() if k != "seed"},
        "warnings": report.get("warnings", []),
        "load_ms": report.get("load_ms"),
        "memory": memory_facts(run),
        "memory_chart": run_chart(run, reverse("run-memory-csv", args=[run.pk])),
        "memory_not_observed": not_observed(run),
    }


def _identities(report: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Read before and after; one entry where nothing changed."""
    before, after = report.get("identity_before") or {}, report.get("identity_after") or {}
    if before and before == after:
        return [("Before and after", before)]
    return [("Before", before), ("After", after)]


@require_GET
@never_cache
def run_events(request: HttpRequest, pk: int) -> HttpResponse:
    """The fallback of the socket: the same page of the log, for the asking."""
    text = request.GET.get("after", "0")
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        return JsonResponse({"error": "after must be a whole number, 0 or more."}, status=400)
    try:
        page = read_page(pk, int(text))
    except Run.DoesNotExist:
        return JsonResponse({"error": f"There is no run {pk}."}, status=404)
    return JsonResponse(page)


REQUEST_COLUMNS = [
    "index",
    "check_key",
    "label",
    "streamed",
    "cache",
    "client_concurrency",
    "outcome",
    "failure_class",
    "started_offset_ms",
    "ttft_ms",
    "end_ms",
    "decode_tps",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
]


@require_GET
def request_list(request: HttpRequest, pk: int) -> HttpResponse:
    """A run's requests as CSV."""
    run = get_object_or_404(Run.objects.only("pk"), pk=pk)
    rows = run.requests.order_by("index").values_list(*REQUEST_COLUMNS)
    return csv_response(f"run-{pk}-requests.csv", REQUEST_COLUMNS, rows)


@require_GET
def request_detail(request: HttpRequest, pk: int, index: int) -> HttpResponse:
    shown = get_object_or_404(
        RunRequest.objects.select_related("run__deployment", "run__suite"), run_id=pk, index=index
    )
    around = shown.run.requests.order_by("index")
    context = {
        "run": shown.run,
        "request_row": shown,
        "record": shown.record,
        "picture": request_picture(shown),
        "figures": request_figures(shown),
        "server_figures": server_figures(shown),
        "pair": fresh_beside_repeat(shown, twin_of(shown)),
        "explained": explain(shown.failure_class),
        "previous": around.filter(index__lt=index).last(),
        "next": around.filter(index__gt=index).first(),
    }
    return render(request, "runs/request_detail.html", context)
