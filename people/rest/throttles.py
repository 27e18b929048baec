"""How often one person may ask; the rates are settings."""

from __future__ import annotations

from django.conf import settings
from rest_framework.throttling import UserRateThrottle


class Asking(UserRateThrottle):
    scope = "ask"

    def get_rate(self) -> str:
        return str(settings.API_RATES[self.scope])


class Changing(Asking):
    """Everything that is no mere reading, counted apart."""

    scope = "change"

    def allow_request(self, request: object, view: object) -> bool:
        is_reading = getattr(request, "method", "") in ("GET", "HEAD", "OPTIONS")
        return is_reading or bool(super().allow_request(request, view))
