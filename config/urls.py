"""All addresses of the product."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("catalog.urls")),  # first: its forms lie below /deployments/
    path("", include("verdicts.urls")),
    path("", include("runs.memory.urls")),
    path("", include("runs.launch.urls")),
    path("runs/", include("runs.urls")),
    path("suites/", include("runs.suites.urls")),
    path("sweeps/", include("runs.sweeps.urls")),
    path("compare/", include("runs.compare.urls")),
    path("campaigns/", include("runs.campaigns.urls")),
    path("traffic/", include("runs.traffic.urls")),
    path("follow-ups/", include("runs.follow_ups.urls")),
    path("", include("verdicts.policies.urls")),
    path("ledger/", include("verdicts.ledger.urls")),
    path("", include("verdicts.promotions.urls")),
    path("", include("verdicts.notifications.urls")),
    path("api/", include(("config.api", "api"))),
    path("", include("people.urls")),
]
