"""Addresses below /sweeps/."""

from __future__ import annotations

from django.urls import path

from runs.sweeps import views

urlpatterns = [
    path("", views.sweep_list, name="sweep-list"),
    path("new/", views.sweep_new, name="sweep-new"),
    path("<int:pk>/", views.sweep_detail, name="sweep-detail"),
    path("<int:pk>/live/", views.sweep_live, name="sweep-live"),
    path("<int:pk>/cells.csv", views.sweep_csv, name="sweep-csv"),
    path("<int:pk>/charts/<slug:key>.csv", views.sweep_chart_csv, name="sweep-chart-csv"),
    path("<int:pk>/pause/", views.sweep_pause, name="sweep-pause"),
    path("<int:pk>/resume/", views.sweep_resume, name="sweep-resume"),
    path("<int:pk>/cancel/", views.sweep_cancel, name="sweep-cancel"),
]
