"""Addresses below /policies/, and of a deployment's gates."""

from __future__ import annotations

from django.urls import path

from verdicts.policies import views

urlpatterns = [
    path("policies/", views.policy_list, name="policy-list"),
    path("policies/<slug:role>/", views.policy_page, name="policy"),
    path("policies/<slug:role>/edit/", views.policy_edit, name="policy-edit"),
    path("policies/waivers/<int:pk>/withdraw/", views.waiver_withdraw, name="waiver-withdraw"),
    path("deployments/<slug:slug>/gates/", views.deployment_gates, name="deployment-gates"),
    path("deployments/<slug:slug>/gates/<slug:role>/waive/", views.gate_waive, name="gate-waive"),
]
