"""How numbers, times and outcomes are written on every page."""

from __future__ import annotations

from django import template

register = template.Library()
