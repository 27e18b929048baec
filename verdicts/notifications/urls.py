"""Addresses below /inbox/ and /webhooks/."""

from __future__ import annotations

from django.urls import path

from verdicts.notifications import views

urlpatterns = [
    path("inbox/", views.inbox, name="inbox"),
    path("inbox/read/", views.inbox_read, name="inbox-read"),
    path("inbox/subscriptions/", views.subscriptions, name="subscriptions"),
    path("webhooks/", views.webhooks, name="webhooks"),
    path("webhooks/<int:pk>/switch/", views.webhook_switch, name="webhook-switch"),
    path("webhooks/deliveries/<int:pk>/again/", views.delivery_again, name="delivery-again"),
]
