"""Addresses below /ledger/."""

from __future__ import annotations

from django.urls import path

from verdicts.ledger import views

urlpatterns = [
    path("", views.ledger_list, name="ledger-list"),
    path("<int:seq>/", views.ledger_entry, name="ledger-entry"),
    path("verify/", views.ledger_verify, name="ledger-verify"),
    path("export.jsonl", views.ledger_export, name="ledger-export"),
]
