"""Shares and sums, as pages of traffic write them."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.templatetags.figures import NOT_RECORDED, THIN, dash

register = template.Library()


@register.filter
def percent(share: float | None, missing: str = NOT_RECORDED) -> SafeString:
    """0.98765 as "98.77 %"; never 100 while one is missing."""
    if share is None:
        return dash(missing)
    shown = min(share, 0.9999) if share < 1 else share
    return format_html(
        '<span class="figure" title="{}">{}</span>', share, f"{shown:.2%}"[:-1] + f"{THIN}%"
    )


@register.filter
def plus(value: int, other: int) -> int:
    return value + other
