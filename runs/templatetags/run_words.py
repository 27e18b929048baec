"""How runs say what happened: classes by their title, keys without underscores."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from runs.explain import explain
from runs.templatetags.figures import OUTCOMES, bytes_gib, dash, icon, ms, number

register = template.Library()

UNITS = {"ms": "ms", "s": "s", "tps": "tok/s", "bytes": "bytes", "percent": "%"}
ACRONYMS = {"ttft", "itl", "tpot", "rss", "uss", "cpu", "json", "id", "http"}
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
def figure_name(key: str) -> str:
    """`ttft_spread_ms` -> "TTFT spread": the unit goes to the value."""
    words = [word for word in key.split("_") if word]
    if len(words) > 1 and words[-1] in UNITS:
        words.pop()
    name = " ".join(word.upper() if word in ACRONYMS else word for word in words)
    return name[:1].upper() + name[1:]


@register.filter
def with_unit_of(value: object, key: str) -> str | SafeString:
    """A value written with the unit that its key ends in; nested values as they are."""
    if value is None:
        return dash()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return format_html_join(", ", "{} {}", _parts(value, key))
    if not isinstance(value, int | float):
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    unit = key.rsplit("_", 1)[-1]
    if unit == "bytes":
        return bytes_gib(int(value))
    return ms(value) if unit == "ms" else number(value, UNITS.get(unit, ""))


def _parts(value: dict[str, object], key: str) -> list[tuple[str, str | SafeString]]:
    """A spread: its parts share the unit of the whole, counts have none."""
    return [
        (figure_name(name), with_unit_of(part, "" if name == "n" else key))
        for name, part in value.items()
    ]


@register.simple_tag
def named_figure(key: str, value: object) -> SafeString:
    return format_html("{} {}", figure_name(key), with_unit_of(value, key))
