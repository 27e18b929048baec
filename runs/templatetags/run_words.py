"""How runs say what happened: classes by their title, keys without underscores."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from runs.explain import explain
from runs.templatetags.figures import OUTCOMES, grouped, icon

register = template.Library()

CACHE_WORDS = {"fresh": "fresh prompt", "repeat": "exact repeat", "any": "cache not considered"}


@register.filter
def class_title(failure_class: str) -> str:
    """The title of a failure class, or its key where the table does not know it."""
    found = explain(failure_class)
    return found.title if found else underscored(failure_class)


@register.simple_tag
def outcome_icon(outcome: str) -> SafeString:
    return icon(OUTCOMES.get(outcome, ("info", ""))[0])


@register.filter
def underscored(key: str) -> str:
    return str(key).replace("_", " ")


@register.filter
def cache_word(cache: str) -> str:
    return CACHE_WORDS.get(cache, cache)


@register.filter
def reason_words(reason: str) -> str:
    """Why there is no decode rate."""
    return underscored(reason) or "not streamed"


@register.filter
def plain_figure(value: object) -> str:
    """A value whose unit is in its name."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return grouped(value)
    return "–" if value is None else str(value)
