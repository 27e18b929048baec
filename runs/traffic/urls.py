"""Addresses below /traffic/."""

from __future__ import annotations

from django.urls import path

from runs.traffic import views

urlpatterns = [
    path("", views.overview, name="traffic"),
    path("upload/", views.upload, name="traffic-upload"),
    path("batches/<int:pk>/", views.batch_page, name="traffic-batch"),
    path("deployments/<slug:slug>/", views.deployment_traffic, name="deployment-traffic"),
]
