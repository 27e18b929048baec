"""Side by side: which is better, and is that real?"""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from catalog.models import Deployment
from runs.compare import services
from runs.compare.models import Baseline
from runs.compare.reading import compare
from runs.compare.selectors import Side, sides_asked
from runs.compare.selectors import what_differs as settings_that_differ
from runs.compare.services import BaselineRefused
from runs.models import Run
from runs.plots import drawn_rows
from runs.plots.chart import CSV_COLUMNS
from runs.selectors import listed_runs
from runs.views import person_of
from runs.views.tables import csv_response

RECENT = 25


@require_safe
def compare_page(request: HttpRequest) -> HttpResponse:
    """With fewer than two sides, a way to choose them."""
    sides = sides_of(request)
    if len(sides) < 2:
        return pick(request, sides)
    query = request.GET.urlencode()
    found = compare(sides, f"{reverse('compare-csv')}?{query}")
    context = {"found": found, "differs": settings_that_differ(sides)}
    return render(request, "compare/compare.html", context)


def pick(request: HttpRequest, sides: list[Side]) -> HttpResponse:
    context = {
        "sides": sides,
        "runs": listed_runs().filter(outcome="clean_pass")[:RECENT],
        "deployments": Deployment.objects.filter(runs__outcome="clean_pass").distinct(),
        "baselines": Baseline.objects.select_related("deployment", "revision"),
    }
    return render(request, "compare/pick.html", context)


@require_safe
def compare_csv(request: HttpRequest) -> HttpResponse:
    """What the chart draws."""
    sides = sides_of(request)
    chart = compare(sides).chart if len(sides) > 1 else None
    if chart is None:
        raise Http404("There is nothing to draw.")
    return csv_response("compare.csv", CSV_COLUMNS, drawn_rows(chart.figure))


def sides_of(request: HttpRequest) -> list[Side]:
    asked = request.GET
    return sides_asked(
        numbers(asked.getlist("run")),
        numbers(asked.getlist("revision")),
        [slug for slug in asked.getlist("deployment") if slug][:4],
    )


def numbers(texts: list[str]) -> list[int]:
    """Each once, in the order typed; what is no number is left out."""
    found = (int(t) for t in texts if t.isascii() and t.isdigit() and len(t) < 19)
    return list(dict.fromkeys(found))[:4]


@require_POST
def baseline_pin(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(Run.objects.select_related("deployment", "revision"), pk=pk)
    try:
        note = request.POST.get("note", "")
        services.pin_baseline(actor=person_of(request), run=run, note=note)
        messages.success(request, f"Run #{run.pk} is the baseline of {run.deployment} now.")
    except BaselineRefused as refused:
        messages.warning(request, str(refused))
    return redirect("run-detail", pk)


@require_POST
def baseline_unpin(request: HttpRequest, slug: str) -> HttpResponse:
    deployment = get_object_or_404(Deployment, slug=slug)
    services.unpin_baseline(actor=person_of(request), deployment=deployment)
    return redirect("deployment", slug)
