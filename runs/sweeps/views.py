"""Pages of sweeps: the list, the grid, and one sweep while it fills and afterwards."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from catalog.models import Deployment
from people.access import Action, require
from runs.explain import explain
from runs.plots import Chart, drawn_rows
from runs.plots.chart import CSV_COLUMNS
from runs.selectors import has_worker
from runs.sweeps import services
from runs.sweeps.export import COLUMNS, rows
from runs.sweeps.forms import SweepForm, first_values
from runs.sweeps.grid import GridRefused
from runs.sweeps.heatmap import METRICS, heatmaps
from runs.sweeps.models import OVER, Sweep, SweepState
from runs.sweeps.planning import Draft, plan_sweep
from runs.sweeps.reading.charts import reported_chart
from runs.sweeps.reading.report import imported_for, report_of
from runs.sweeps.selectors import cells_of, deployments_swept, listed_sweeps, progress_of
from runs.views import person_of
from runs.views.tables import csv_response

PER_PAGE = 30


@require_GET
def sweep_list(request: HttpRequest) -> HttpResponse:
    """Which grids were swept, and how far are they?"""
    chosen = {name: request.GET.get(name, "") for name in ("deployment", "state")}
    sweeps = listed_sweeps()
    if chosen["deployment"]:
        sweeps = sweeps.filter(deployment__slug=chosen["deployment"])
    if chosen["state"] in SweepState.values:
        sweeps = sweeps.filter(state=chosen["state"])
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "page": Paginator(sweeps, PER_PAGE).get_page(request.GET.get("page")),
        "query": f"{kept.urlencode()}&" if kept else "",
        "chosen": chosen,
        "is_filtered": any(chosen.values()),
        "states": SweepState.choices,
        "deployments": deployments_swept(),
        "reported": reported(chosen["deployment"]),
    }
    return render(request, "sweeps/list.html", context)


def reported(slug: str) -> Chart | None:
    """What a report says about parallel on the chosen deployment, if it says anything."""
    deployment = Deployment.objects.filter(slug=slug).first() if slug else None
    figures = imported_for(deployment) if deployment else []
    return reported_chart(figures) if figures else None


@require_http_methods(["GET", "HEAD", "POST"])
def sweep_new(request: HttpRequest) -> HttpResponse:
    """What would be swept, what would it cost, and what is skipped?"""
    require(request.user, Action.START_SWEEP)
    asked = request.POST if request.method == "POST" else request.GET
    deployment = get_object_or_404(
        Deployment.objects.select_related("artifact", "runtime", "host"),
        slug=asked.get("deployment", ""),
    )
    if request.method != "POST":
        first = first_values(deployment, secrets.randbelow(services.MOST_SEEDS))
        return show_form(request, SweepForm(deployment, initial=first))
    form = SweepForm(deployment, request.POST)
    if form.is_valid() and request.POST.get("do") == "start":
        try:
            return redirect("sweep-detail", start(request, form).pk)
        except GridRefused as refused:
            form.refuse(refused)
        except services.SweepRefused as refused:
            form.add_error(None, str(refused))
    return show_form(request, form)


def start(request: HttpRequest, form: SweepForm) -> Sweep:
    draft = form.draft()
    return services.start_sweep(
        actor=person_of(request),
        deployment=draft.deployment,
        grid=draft.grid,
        profile=draft.profile,
        layer=draft.layer,
        base=draft.base,
        guards=draft.guards,
        seed=form.cleaned_data["seed"],
        cell_timeout_s=draft.cell_timeout_s,
        max_failures=draft.max_failures,
        note=form.cleaned_data["note"],
    )


def show_form(request: HttpRequest, form: SweepForm) -> HttpResponse:
    """With the plan of what stands in it, where that can be planned."""
    planned = None
    if form.is_bound and form.is_valid():
        try:
            planned = plan_sweep(form.draft(), seed=form.cleaned_data["seed"])
        except GridRefused as refused:
            form.refuse(refused)
    context = {
        "form": form,
        "deployment": form.deployment,
        "planned": planned,
        "workload": Draft(form.deployment).workload,
        "has_worker": has_worker(form.deployment.host),
    }
    return render(request, "sweeps/new.html", context, status=422 if form.errors else 200)


@require_GET
@never_cache
def sweep_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Does parallel help?"""
    return render(request, "sweeps/detail.html", shown(request, pk))


@require_GET
@never_cache
def sweep_live(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the page that changes while the sweep goes on."""
    context = shown(request, pk)
    response = render(request, "sweeps/live.html", context)
    if not context["is_moving"]:
        response["HX-Refresh"] = "true"  # it stands still: the whole page has its reading
    return response


def shown(request: HttpRequest, pk: int) -> dict[str, Any]:
    sweep = get_object_or_404(
        Sweep.objects.select_related("deployment__artifact", "host", "profile", "endpoint"), pk=pk
    )
    metric = METRICS.get(
        request.GET.get("metric", ""), METRICS["ttft" if sweep.workload == "chat" else "requests"]
    )
    cells = cells_of(sweep)
    failed = next((cell.failure_class for cell in cells if cell.failure_class), "")
    is_moving = sweep.state in (SweepState.PLANNED, SweepState.RUNNING)
    group, by = (request.GET.get(name, "") for name in ("group", "by"))
    return {
        "sweep": sweep,
        "reading": None if is_moving else report_of(sweep, cells=cells, group=group, by=by),
        "cells": cells,
        "progress": progress_of(sweep, cells),
        "metric": metric,
        "metrics": METRICS.values(),
        "heatmaps": heatmaps(sweep, cells, metric),
        "explained": explain(failed),
        "is_moving": is_moving,
        "is_over": sweep.state in OVER,
        "has_worker": has_worker(sweep.host),
    }


@require_GET
def sweep_csv(request: HttpRequest, pk: int) -> HttpResponse:
    """Every cell, in the order in which they ran."""
    sweep = get_object_or_404(Sweep, pk=pk)
    return csv_response(f"sweep-{pk}-cells.csv", COLUMNS, rows(cells_of(sweep)))


@require_GET
def sweep_chart_csv(request: HttpRequest, pk: int, key: str) -> HttpResponse:
    """What one of its charts draws."""
    sweep = get_object_or_404(Sweep.objects.select_related("deployment"), pk=pk)
    group, by = (request.GET.get(name, "") for name in ("group", "by"))
    reading = report_of(sweep, group=group, by=by)
    chart = next((one for one in reading.charts if one.key == key), None) if reading else None
    if chart is None:
        raise Http404("There is no such chart of this sweep.")
    return csv_response(f"sweep-{pk}-{key}.csv", CSV_COLUMNS, drawn_rows(chart.figure))


@require_POST
def sweep_pause(request: HttpRequest, pk: int) -> HttpResponse:
    return control(request, pk, services.pause_sweep)


@require_POST
def sweep_resume(request: HttpRequest, pk: int) -> HttpResponse:
    return control(request, pk, services.resume_sweep)


@require_POST
def sweep_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    return control(request, pk, services.cancel_sweep)


def control(request: HttpRequest, pk: int, service: Any) -> HttpResponse:
    sweep = get_object_or_404(Sweep, pk=pk)
    try:
        service(actor=person_of(request), sweep=sweep)
    except services.SweepRefused as refused:
        messages.warning(request, str(refused))
    return redirect("sweep-detail", pk)
