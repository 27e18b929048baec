"""All addresses of the product."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("catalog.urls")),  # first: its forms lie below /deployments/
    path("", include("verdicts.urls")),
    path("", include("runs.memory.urls")),
    path("", include("runs.launch.urls")),
    path("runs/", include("runs.urls")),
    path("", include("people.urls")),
]
