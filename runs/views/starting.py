"""The plan page: what a run would send, what stands in its way, and the button that starts it."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from catalog.models import Deployment, Layer
from people.access import Action, require
from runs.engine.checks import plan_requests
from runs.estimates import estimate_cost
from runs.explain import describe_checks
from runs.memory.forms import GuardForm
from runs.models import Suite
from runs.planning import RunRefused, active_endpoint, active_revision, build_plan
from runs.preflight import can_start, preflight
from runs.selectors import current_suites, first_suite, suites_by_fit
from runs.services import start_run
from runs.views import person_of


@require_http_methods(["GET", "POST"])
def run_start(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.START_RUN)
    asked = request.POST if request.method == "POST" else request.GET
    deployment = get_object_or_404(
        Deployment.objects.select_related("artifact", "runtime", "host"),
        slug=asked.get("deployment", ""),
    )
    suite = _suite(asked.get("suite") or first_suite(deployment.artifact.task))
    layer = asked.get("layer", "") or _first_layer(deployment)
    if request.method == "POST":
        return _start(request, deployment, suite, layer)
    return _show_plan(request, deployment, suite, layer)


def _suite(key: str) -> Suite:
    suite = current_suites().filter(key=key).first()
    if suite is None:
        raise Http404(f"There is no suite {key}.")
    return suite


def _first_layer(deployment: Deployment) -> str:
    """The layer that is there; direct where there is a choice."""
    layers = set(deployment.endpoints.filter(is_active=True).values_list("layer", flat=True))
    return Layer.DIRECT if Layer.DIRECT in layers or not layers else sorted(layers)[0]


def _start(request: HttpRequest, deployment: Deployment, suite: Suite, layer: str) -> HttpResponse:
    note = request.POST.get("note", "").strip()
    try:
        run = start_run(
            actor=person_of(request),
            deployment=deployment,
            suite=suite,
            layer=layer,
            note=note,
            guards=GuardForm(request.POST).typed(),
        )
    except ValidationError as wrong:
        messages.error(request, f"Memory limits: {' '.join(wrong.messages)}")
        return _show_plan(request, deployment, suite, layer, status=400)
    except RunRefused as refused:
        messages.error(request, str(refused))
        return _show_plan(request, deployment, suite, layer, status=409)
    return redirect("run-detail", pk=run.pk)


def _show_plan(
    request: HttpRequest, deployment: Deployment, suite: Suite, layer: str, status: int = 200
) -> HttpResponse:
    items = preflight(deployment, layer)
    fitting, others = suites_by_fit(deployment.artifact.task)
    context = {
        "deployment": deployment,
        "suite": suite,
        "fitting_suites": fitting,
        "other_suites": others,
        "layer": layer,
        "layers": deployment.endpoints.filter(is_active=True),
        "items": items,
        "can_start": can_start(items),
        "estimate": estimate_cost(deployment, suite, layer),
        **_planned(deployment, suite, layer),
    }
    return render(request, "runs/run_start.html", context, status=status)


def _planned(deployment: Deployment, suite: Suite, layer: str) -> dict[str, object]:
    """What can be planned; nothing while the revision or the endpoint is missing."""
    try:
        revision = active_revision(deployment)
        endpoint = active_endpoint(deployment, layer)
    except RunRefused:
        return {"plan": None}
    plan = build_plan(deployment=deployment, revision=revision, endpoint=endpoint, suite=suite)
    return {
        "plan": plan,
        "revision": revision,
        "endpoint": endpoint,
        "requests": plan_requests(plan),
        "checks": describe_checks(plan),
        "guard_form": GuardForm.showing(plan.guards),
    }
