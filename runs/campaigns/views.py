"""Pages of campaigns: all of them, one of them, the wall, and starting one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.models import Deployment
from people.access import Action, require
from runs.campaigns import services, showing
from runs.campaigns.forms import CampaignForm, ExtendForm, kinds_in_words
from runs.campaigns.models import Campaign, CampaignState, Kind
from runs.campaigns.services import CampaignRefused
from runs.plots import drawn_rows
from runs.plots.chart import CSV_COLUMNS
from runs.selectors import has_worker
from runs.views import person_of
from runs.views.tables import csv_response

PER_PAGE = 20


@require_safe
@never_cache
def campaign_list(request: HttpRequest) -> HttpResponse:
    """What has stayed good, and what is going on?"""
    chosen = {name: request.GET.get(name, "") for name in ("kind", "state", "deployment")}
    page = Paginator(showing.listed(**chosen), PER_PAGE).get_page(request.GET.get("page"))
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "page": page,
        "rows": [showing.show(campaign) for campaign in page.object_list],
        "query": f"{kept.urlencode()}&" if kept else "",
        "chosen": chosen,
        "is_filtered": any(chosen.values()),
        "kinds": Kind.choices,
        "states": [("open", "Open"), *CampaignState.choices],
        "deployments": [
            (d.slug, str(d)) for d in Deployment.objects.filter(campaigns__isnull=False).distinct()
        ],
    }
    return render(request, "campaigns/list.html", context)


@require_safe
@never_cache
def campaign_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Has it stayed good?"""
    campaign = campaign_or_404(pk)
    context = {
        **live_context(request, campaign),
        "charts": showing.charts(campaign),
        "traffic": showing.real_traffic(campaign),
        "worst": showing.worst_requests(campaign),
        "failed": showing.failed_cycles(campaign)[:20],
        "extend": ExtendForm(),
    }
    return render(request, "campaigns/detail.html", context)


@require_safe
@never_cache
def campaign_live(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the page that changes while it goes on."""
    campaign = campaign_or_404(pk)
    response = render(request, "campaigns/live.html", live_context(request, campaign))
    if not campaign.is_open:
        response["HX-Refresh"] = "true"
    return response


def live_context(request: HttpRequest, campaign: Campaign) -> dict[str, Any]:
    first, last = slots_asked(request)
    shown = showing.show(campaign, first=first, last=last)
    is_close = first > 0 or last is not None
    return {
        "shown": shown,
        "campaign": campaign,
        "notes": campaign.notes.order_by("-at", "-pk")[:50],
        "is_close": is_close,
        "cycles": showing.cycles_between(campaign, shown.marks[0].first, shown.marks[-1].last)
        if is_close
        else [],
        "has_worker": has_worker(campaign.host),
    }


def slots_asked(request: HttpRequest) -> tuple[int, int | None]:
    """`?from=` and `?to=`: slots of the time line to look at closely."""
    asked = [request.GET.get(name, "") for name in ("from", "to")]
    first, last = (int(t) if t.isascii() and t.isdigit() and len(t) < 9 else None for t in asked)
    return first or 0, last


@require_safe
@never_cache
def campaign_wall(request: HttpRequest) -> HttpResponse:
    """From four metres: is anything red?"""
    tiles = showing.on_the_wall()
    template = "campaigns/tiles.html" if getattr(request, "htmx", False) else "campaigns/wall.html"
    return render(request, template, {"tiles": tiles})


@require_safe
def campaign_csv(request: HttpRequest, pk: int, key: str) -> HttpResponse:
    """What one of its charts draws."""
    campaign = campaign_or_404(pk)
    chart = next((one for one in showing.charts(campaign) if one.key == key), None)
    if chart is None:
        raise Http404("There is no such chart of this campaign.")
    return csv_response(f"campaign-{pk}-{key}.csv", CSV_COLUMNS, drawn_rows(chart.figure))


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_start(request: HttpRequest) -> HttpResponse:
    """What will be asked, how often, and what would fail it?"""
    require(request.user, Action.START_CAMPAIGN)
    asked = request.POST if request.method == "POST" else request.GET
    deployment = get_object_or_404(
        Deployment.objects.select_related("artifact", "runtime", "host"),
        slug=asked.get("deployment", ""),
    )
    if request.method != "POST":
        first = {
            name: request.GET.get(name) for name in ("kind", "layer") if request.GET.get(name)
        }
        return start_page(request, CampaignForm(deployment, initial=first), deployment)
    form = CampaignForm(deployment, request.POST)
    if form.is_valid():
        try:
            made = services.start_campaign(
                actor=person_of(request), deployment=deployment, **form.given()
            )
            return redirect("campaign-detail", made.pk)
        except CampaignRefused as refused:
            form.add_error(None, str(refused))
    return start_page(request, form, deployment)


def start_page(request: HttpRequest, form: CampaignForm, deployment: Deployment) -> HttpResponse:
    context = {
        "form": form,
        "deployment": deployment,
        "revision": deployment.revisions.filter(is_active=True).first(),
        "has_endpoint": deployment.endpoints.filter(is_active=True).exists(),
        "has_worker": has_worker(deployment.host),
        "kinds": kinds_in_words(),
    }
    return render(request, "campaigns/start.html", context, status=422 if form.errors else 200)


@require_POST
def campaign_pause(request: HttpRequest, pk: int) -> HttpResponse:
    return control(request, pk, services.pause_campaign)


@require_POST
def campaign_resume(request: HttpRequest, pk: int) -> HttpResponse:
    return control(request, pk, services.resume_campaign)


@require_POST
def campaign_end(request: HttpRequest, pk: int) -> HttpResponse:
    return control(request, pk, services.end_campaign, reason=request.POST.get("reason", "")[:300])


@require_POST
def campaign_extend(request: HttpRequest, pk: int) -> HttpResponse:
    require(request.user, Action.CONTROL_CAMPAIGN)
    form = ExtendForm(request.POST)
    if not form.is_valid():
        messages.warning(request, "Say by how many hours.")
        return redirect("campaign-detail", pk)
    seconds = int(form.cleaned_data["hours"] * 3600)
    return control(request, pk, services.extend_campaign, seconds=seconds)


def control(
    request: HttpRequest, pk: int, service: Callable[..., None], **more: Any
) -> HttpResponse:
    campaign = campaign_or_404(pk)
    try:
        service(actor=person_of(request), campaign=campaign, **more)
    except CampaignRefused as refused:
        messages.warning(request, str(refused))
    return redirect("campaign-detail", pk)


def campaign_or_404(pk: int) -> Campaign:
    related = ("deployment__artifact", "revision", "endpoint", "host")
    return get_object_or_404(Campaign.objects.select_related(*related), pk=pk)
