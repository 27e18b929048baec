"""Naming machines."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.text import slugify

from catalog.models import Host


def ensure_host(name: str) -> Host:
    """The host of that name; raises ValidationError for a name without letters or digits."""
    key = slugify(name)[:50]
    if not key:
        raise ValidationError("Give the host a name with letters or digits.")
    host, _ = Host.objects.get_or_create(key=key, defaults={"name": name})
    return host
