"""Addresses below /promotions/, and of a deployment's verdict."""

from __future__ import annotations

from django.urls import path

from verdicts.promotions.views import requests, verdicts

urlpatterns = [
    path("promotions/", requests.promotion_list, name="promotion-list"),
    path("promotions/<int:pk>/", requests.promotion_detail, name="promotion-detail"),
    path("promotions/<int:pk>/decide/", requests.promotion_decide, name="promotion-decide"),
    path("promotions/<int:pk>/answer/", requests.promotion_answer, name="promotion-answer"),
    path("promotions/<int:pk>/withdraw/", requests.promotion_withdraw, name="promotion-withdraw"),
    path("promotions/<int:pk>/rollback/", requests.promotion_rollback, name="promotion-rollback"),
    path("deployments/<slug:slug>/promote/", requests.promotion_new, name="promotion-new"),
    path(
        "deployments/<slug:slug>/verdict/<slug:change>/",
        verdicts.verdict_change,
        name="verdict-change",
    ),
]
