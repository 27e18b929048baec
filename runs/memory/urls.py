"""Addresses of the memory pages, of deployments, hosts and runs alike."""

from __future__ import annotations

from django.urls import path

from runs.memory import views

urlpatterns = [
    path("deployments/<slug:slug>/memory/", views.deployment_memory, name="deployment-memory"),
    path("hosts/<slug:key>/", views.host_page, name="host-memory"),
    path("runs/<int:pk>/memory.csv", views.run_memory_csv, name="run-memory-csv"),
]
