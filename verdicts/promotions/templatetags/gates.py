"""How a gate's state is shown: colour, shape and word together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from runs.templatetags.figures import dash, icon
from verdicts.promotions.keeping import page_of

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
def evidence_links(evidence: Iterable[Any]) -> SafeString:
    """Each piece of evidence with the way to it; as it is kept, or as it was evaluated."""
    refs = [ref if isinstance(ref, dict) else {"kind": ref.kind, "id": ref.id} for ref in evidence]
    if not refs:
        return dash("nothing was counted")
    return format_html_join(", ", "{}", [(_link(ref["kind"], ref["id"]),) for ref in refs])


def _link(kind: str, number: int) -> SafeString:
    if not (address := page_of(kind, number)):
        return format_html("{} {}", kind, number)
    return format_html('<a class="nowrap" href="{}">{} {}</a>', address, kind, number)


@register.simple_tag
def gate_badge(state: str) -> SafeString:
    if state not in STATES:
        return dash("a state that a newer release knew")
    shape, word = STATES[state]
    return format_html('<span class="mark gate-{}">{}{}</span>', state, icon(shape), word)
