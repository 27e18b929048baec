"""Addresses below /inbox/ and /webhooks/."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
