"""Addresses below /runs/."""

from __future__ import annotations

from django.urls import path

from runs.views import acting, listing, reference, showing, starting

urlpatterns = [
    path("", listing.run_list, name="run-list"),
    path("start/", starting.run_start, name="run-start"),
    path("runtimes/", reference.runtimes, name="runtimes"),
    path("failure-classes/", reference.failure_classes, name="failure-classes"),
    path("<int:pk>/", showing.run_detail, name="run-detail"),
    path("<int:pk>/events/", showing.run_events, name="run-events"),
    path("<int:pk>/cancel/", acting.run_cancel, name="run-cancel"),
    path("<int:pk>/repeat/", acting.run_repeat, name="run-repeat"),
    path("<int:pk>/requests.csv", showing.request_list, name="request-list"),
    path("<int:pk>/requests/<int:index>/", showing.request_detail, name="request-detail"),
]
