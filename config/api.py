"""Everything below /api/v1/."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

import catalog.api as catalog
import runs.api as runs
import runs.campaigns.api as campaigns
import runs.compare.api as comparing
import runs.follow_ups.api as follow_ups
import runs.launch.api as launch
import runs.memory.api as memory
import runs.sweeps.api as sweeps
import runs.traffic.api as traffic
import verdicts.ledger.api as ledger
import verdicts.notifications.api as notifications
import verdicts.policies.api as policies
import verdicts.promotions.api as promotions
from people.rest.problems import problem
from people.rest.views import SLUG

router = SimpleRouter()
router.register("deployments", catalog.Deployments, "deployment")
router.register(f"deployments/(?P<slug>{SLUG})/traffic", traffic.Traffic, "traffic")
router.register("revisions", catalog.Revisions, "revision")
router.register("endpoints", catalog.Endpoints, "endpoint")
router.register("artifacts", catalog.Artifacts, "artifact")
router.register("hosts", catalog.Hosts, "host")
router.register("claims", catalog.Claims, "claim")
router.register("follow-ups", follow_ups.FollowUps, "follow-up")
router.register("suites", runs.Suites, "suite")
router.register("runs", runs.Runs, "run")
router.register("sweeps", sweeps.Sweeps, "sweep")
router.register("sweep-cells", sweeps.Cells, "sweep-cell")
router.register("campaigns", campaigns.Campaigns, "campaign")
router.register("cycles", campaigns.Cycles, "cycle")
router.register("campaign-notes", campaigns.Notes, "campaign-note")
router.register("comparisons", comparing.Comparisons, "comparison")
router.register("baselines", comparing.Baselines, "baseline")
router.register("growth", memory.Growth, "growth")
router.register("launch-profiles", launch.Profiles, "launch-profile")
router.register("launches", launch.Launches, "launch")
router.register("policies", policies.Policies, "policy")
router.register("waivers", policies.Waivers, "waiver")
router.register("evaluations", policies.Evaluations, "evaluation")
router.register("promotions", promotions.Promotions, "promotion")
router.register("verdicts", promotions.Verdicts, "verdict")
router.register("ledger", ledger.Ledger, "ledger")
router.register("notifications", notifications.Notifications, "notification")
router.register("subscriptions", notifications.Subscriptions, "subscription")
router.register("webhooks", notifications.Webhooks, "webhook")


@require_safe
@ensure_csrf_cookie
def docs(request: HttpRequest) -> HttpResponse:
    """Swagger UI, from our own files."""
    return render(request, "api/docs.html")


class Nothing(APIView):
    """An address below /api/ that is none is told as every other error is."""

    schema = None

    def initial(self, request: object, *args: object, **kwargs: object) -> None:
        """Anybody is told; nothing is read."""

    def _told(self, request: object, **kwargs: object) -> Response:
        return problem(404, "There is no such address. See /api/v1/docs/.")

    get = post = put = patch = delete = _told


urlpatterns = [
    path("v1/schema/", SpectacularJSONAPIView.as_view(), name="schema"),
    path("v1/docs/", docs, name="docs"),
    path("v1/", include(router.urls)),
    path("<path:rest>", Nothing.as_view(), name="nothing"),
]
