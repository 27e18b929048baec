"""All addresses of the product."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("verdicts.urls")),
    path("", include("catalog.urls")),
    path("runs/", include("runs.urls")),
    path("", include("people.urls")),
]
