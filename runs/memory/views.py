"""Memory pages: a deployment's growth, a host's residents and planner, and their CSV files."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from catalog.models import Deployment, Host
from runs.memory.charts import imported_chart, measured_chart, need_chart
from runs.memory.forms import PlannerForm
from runs.memory.host_chart import host_chart
from runs.memory.metrics import EXPLAINED
from runs.memory.planner import plan
from runs.memory.projection import growth_points, imported_growth, measured_growth
from runs.memory.residents import host_memory
from runs.memory.run_chart import run_chart
from runs.models import Run
from runs.plots import Chart, drawn_rows
from runs.plots.chart import CSV_COLUMNS
from runs.plots.units import said_bytes
from runs.views.tables import csv_response


@require_safe
def deployment_memory(request: HttpRequest, slug: str) -> HttpResponse:
    """What does context cost here?"""
    deployment = get_object_or_404(
        Deployment.objects.select_related("artifact", "runtime", "host"), slug=slug
    )
    charts = deployment_charts(deployment)
    if key := request.GET.get("csv"):
        return chart_csv(charts, key, f"{deployment.slug}-{key}.csv")
    context = {
        "deployment": deployment,
        "revision": deployment.revisions.filter(is_active=True).first(),
        "charts": charts,
        "is_measured": any(chart.key == "growth" for chart in charts),
        "runs": Run.objects.filter(deployment=deployment, growth__isnull=False).distinct()[:10],
    }
    return render(request, "runs/memory/deployment.html", context)


def deployment_charts(deployment: Deployment) -> list[Chart]:
    """Measured growth with its consequences first, then what reports say."""
    url = reverse("deployment-memory", args=[deployment.slug])
    charts = []
    revision = deployment.revisions.filter(is_active=True).first()
    points = growth_points(revision) if revision else []
    if revision and points:
        growth = measured_growth(revision, points)
        note = f"Measured by us on revision {revision.number}: {EXPLAINED[points[-1].figure]}."
        charts.append(measured_chart(growth, points, note, f"{url}?csv=growth"))
        if growth.needs:
            charts.append(need_chart(growth, f"{url}?csv=need"))
    figures = list(deployment.figures.filter(metric="memory_gib"))
    if figures:
        growth = imported_growth(deployment, revision, figures)
        origin = (
            f"Imported: {figures[0].workload}, report of {figures[0].reported_on:%Y-%m-%d}. "
            "Shown, never counted."
        )
        charts.append(imported_chart(growth, origin, f"{url}?csv=imported-growth"))
    return charts


@require_safe
def host_page(request: HttpRequest, key: str) -> HttpResponse:
    """What is on this machine now, and what would fit?"""
    host = get_object_or_404(Host, key=key)
    memory = host_memory(host)
    chart = host_chart(memory, f"{reverse('host-memory', args=[host.key])}?csv=host")
    if wanted := request.GET.get("csv"):
        return chart_csv([chart] if chart else [], wanted, f"{host.key}-memory.csv")
    asked = "deployment" in request.GET
    form = PlannerForm(host, request.GET.dict() if asked else None)
    context = {"host": host, "memory": memory, "chart": chart, "form": form}
    if asked and form.is_valid():
        planned = plan(**form.cleaned_data)
        context |= {"plan": planned, "room": room(planned.total_bytes, memory.total_bytes)}
    return render(request, "runs/memory/host.html", context)


def room(needed: float | None, total: int | None) -> str:
    """Whether it fits on the host at all, in words."""
    if needed is None or total is None:
        return "Whether it fits cannot be told: a part is not known."
    if needed > total:
        return f"It does not fit: the host has {said_bytes(total)}."
    return f"It takes {needed / total:.0%} of the host's {said_bytes(total)}."


@require_safe
def run_memory_csv(request: HttpRequest, pk: int) -> HttpResponse:
    """What the run's memory chart draws."""
    chart = run_chart(get_object_or_404(Run, pk=pk))
    return chart_csv([chart] if chart else [], "run-memory", f"run-{pk}-memory.csv")


def chart_csv(charts: list[Chart], key: str, name: str) -> HttpResponse:
    """Every point that a chart draws. Raises Http404 when there is no such chart."""
    chart = next((chart for chart in charts if chart.key == key), None)
    if chart is None:
        raise Http404("There is no such chart.")
    return csv_response(name, CSV_COLUMNS, drawn_rows(chart.figure))
