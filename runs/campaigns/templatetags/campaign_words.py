"""Shares and times as pages of campaigns write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from django import template

from runs.campaigns.reading.timeline import WORDS, Mark
from runs.templatetags.figures import humane_seconds

register = template.Library()


@register.filter
def share(value: float) -> str:
    """0.9987 as "99.87 %"; 100 only for all of it."""
    if value >= 1:
        return "100 %"
    return f"{min(value, 0.9999):.2%}".replace("%", " %")


@register.filter
def lasting(seconds: float) -> str:
    """ "1 h 12 min"."""
    return humane_seconds(seconds)


@register.filter
def summed(marks: Iterable[Mark]) -> str:
    """All slots of a time line in words, for screen readers."""
    counts: Counter[str] = Counter()
    for mark in marks:
        counts.update(mark.counts)
    return ", ".join(f"{counts[state]} {word}" for state, word in WORDS.items() if counts[state])
