"""Addresses of the catalog's own pages."""

from __future__ import annotations

from django.urls import path

from catalog import views

urlpatterns = [
    path("deployments/new/", views.deployment_new, name="deployment-new"),
    path("deployments/discover/", views.discover, name="deployment-discover"),
    path("deployments/<slug:slug>/revisions/new/", views.revision_new, name="revision-new"),
    path("deployments/<slug:slug>/endpoints/new/", views.endpoint_new, name="endpoint-new"),
    path("hosts/", views.host_list, name="hosts"),
    path("claims/", views.claim_list, name="claims"),
    path("claims/new/", views.claim_new, name="claim-new"),
]
