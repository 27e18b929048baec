"""Addresses of the inventory and what it composes."""

from __future__ import annotations

from django.urls import path

from verdicts import views

urlpatterns = [
    path("", views.inventory_page, name="inventory"),
    path("search/", views.search_page, name="search"),
    path("deployments/<slug:slug>/", views.deployment_page, name="deployment"),
]
