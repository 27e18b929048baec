"""Addresses below /compare/."""

from __future__ import annotations

from django.urls import path

from runs.compare import views

urlpatterns = [
    path("", views.compare_page, name="compare"),
    path("chart.csv", views.compare_csv, name="compare-csv"),
    path("baseline/<int:pk>/", views.baseline_pin, name="baseline-pin"),
    path("baseline/<slug:slug>/unpin/", views.baseline_unpin, name="baseline-unpin"),
]
