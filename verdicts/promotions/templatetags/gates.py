"""How a gate's state is shown: colour, shape and word together."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.templatetags.figures import dash, icon

register = template.Library()

# state: (icon, word). The colour is the CSS class of the same name (static/css/promotions.css).
STATES = {
    "pass": ("circle-check", "Pass"),
    "fail": ("circle-x", "Fail"),
    "missing": ("unreviewed", "Missing"),
    "stale": ("clock", "Stale"),
    "inconclusive": ("unsure", "Inconclusive"),
    "waived": ("shield", "Waived"),
}


@register.simple_tag
def gate_badge(state: str) -> SafeString:
    if state not in STATES:
        return dash("a state that a newer release knew")
    shape, word = STATES[state]
    return format_html('<span class="mark gate-{}">{}{}</span>', state, icon(shape), word)
