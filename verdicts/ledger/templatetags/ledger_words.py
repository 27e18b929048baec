"""Showing what an entry holds."""

from __future__ import annotations

import json
from typing import Any

from django import template

register = template.Library()


@register.filter
def pretty(payload: Any) -> str:
    """JSON for people; escaped by the template."""
    return json.dumps(payload, indent=2, ensure_ascii=False, sort_keys=True)
