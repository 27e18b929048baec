"""How numbers, times and outcomes are written on every page.

A number never stands without its unit; what is missing is a dash with a reason, never 0.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalog.models import Revision

register = template.Library()

THIN = "\u202f"  # narrow no-break space: groups digits and joins a number to its unit
GIB = 1024**3
NOT_RECORDED = "not recorded"

# key: (icon, word). The colour is the CSS class of the same name (static/css/tokens.css).
OUTCOMES = {
    "clean_pass": ("circle-check", "Clean pass"),
    "degraded": ("warning", "Degraded"),
    "inconclusive": ("unsure", "Inconclusive"),
    "fail": ("circle-x", "Fail"),
    "queued": ("waiting", "Queued"),
    "running": ("runs", "Running"),
}
VERDICTS = {
    "primary": ("star", "Primary"),
    "candidate": ("candidate", "Candidate"),
    "blocked": ("blocked", "Blocked"),
    "rejected": ("rejected", "Rejected"),
    "unreviewed": ("unreviewed", "Unreviewed"),
}


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """A symbol of components/icons.html; decoration unless it gets a label."""
    if not label:
        return format_html('<svg class="icon" aria-hidden="true"><use href="#i-{}"/></svg>', name)
    return format_html(
        '<svg class="icon" role="img" aria-label="{}"><use href="#i-{}"/></svg>', label, name
    )


@register.simple_tag
def dash(reason: str = NOT_RECORDED) -> SafeString:
    """What is not there, with why: on hover and for screen readers."""
    return format_html(
        '<span class="dash" title="{0}"><span aria-hidden="true">–</span>'
        '<span class="visually-hidden">{0}</span></span>',
        reason,
    )


def grouped(value: float, digits: int | None = None) -> str:
    """1883.86 -> "1 884" with thin spaces; three significant digits unless told otherwise."""
    if digits is None:
        digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}".replace(",", THIN)


def _figure(shown: str, exact: str) -> SafeString:
    return format_html('<span class="figure" title="{}">{}</span>', exact, shown)


@register.filter
def number(value: float | None, unit: str = "") -> SafeString:
    """`{{ tps|number:"tok/s" }}`; the exact value on hover."""
    if value is None:
        return dash()
    suffix = f"{THIN}{unit}" if unit else ""
    return _figure(grouped(value) + suffix, f"{value:,} {unit}".strip())


@register.filter
def ms(value: float | None, missing: str = NOT_RECORDED) -> SafeString:
    """Milliseconds as "812 ms", "12.4 s" or "3 min 20 s"; exact ms on hover."""
    if value is None:
        return dash(missing)
    exact = f"{value:,.3f} ms"
    if abs(value) < 1000:
        return _figure(f"{grouped(value)}{THIN}ms", exact)
    if abs(value) < 100_000:
        return _figure(f"{value / 1000:.3g}{THIN}s", exact)
    return _figure(humane_seconds(value / 1000), exact)


@register.filter
def duration(value: float | timedelta | None, missing: str = NOT_RECORDED) -> SafeString:
    """Seconds as "40 s", "3 min 20 s", "1 h 12 min"; exact seconds on hover."""
    if value is None:
        return dash(missing)
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    return _figure(humane_seconds(seconds), f"{seconds:,.3f} s")


def humane_seconds(seconds: float) -> str:
    """The two largest units that say something."""
    if seconds < 60:
        return f"{seconds:.3g}{THIN}s"
    whole = round(seconds)
    days, hours, minutes = whole // 86400, whole % 86400 // 3600, whole % 3600 // 60
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (whole % 60, "s")]
    first = next(i for i, (amount, _) in enumerate(parts) if amount)
    return " ".join(f"{a}{THIN}{unit}" for a, unit in parts[first : first + 2] if a)


@register.filter
def bytes_gib(value: int | None, missing: str = NOT_RECORDED) -> SafeString:
    """Bytes as GiB, or MiB below a tenth of one; exact bytes on hover."""
    if value is None:
        return dash(missing)
    small = abs(value) < GIB / 10
    shown = f"{value / 1024**2:.3g}{THIN}MiB" if small else f"{grouped(value / GIB)}{THIN}GiB"
    return _figure(shown, f"{value:,} bytes")


@register.filter
def tokens_short(value: int | None) -> str:
    """131072 -> "131K", as people say it."""
    if value is None:
        return "–"
    return f"{value // 1000}K" if value >= 1000 else str(value)


@register.filter
def ago(moment: datetime | None, missing: str = "never") -> SafeString:
    """A <time> that a script turns into the viewer's zone; UTC on hover, also without script."""
    if moment is None:
        return dash(missing)
    utc = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC" data-ago>{}</time>',
        utc.isoformat(timespec="seconds"),
        utc.strftime("%Y-%m-%d %H:%M:%S"),
        _age((timezone.now() - moment).total_seconds()),
    )


def _age(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)}{THIN}{unit} ago"
    return "just now"


def _badge(kind: str, key: str, shape: str, word: str) -> SafeString:
    return format_html('<span class="mark {}-{}">{}{}</span>', kind, key, icon(shape), word)


@register.simple_tag
def outcome_badge(outcome: str) -> SafeString:
    """Colour, shape and word together, for an outcome or the state queued / running."""
    if outcome not in OUTCOMES:
        return dash("no outcome yet")
    return _badge("outcome", outcome, *OUTCOMES[outcome])


@register.simple_tag
def outcome_icon(outcome: str) -> SafeString:
    """The shape alone, where the word stands beside it."""
    return icon(OUTCOMES[outcome][0])


@register.simple_tag
def verdict_badge(state: str | None) -> SafeString:
    """Colour, shape and word together; no verdict yet is unreviewed."""
    key = state or "unreviewed"
    return _badge("verdict", key, *VERDICTS[key])


@register.filter
def configuration(revision: Revision | None) -> SafeString:
    """A revision in short: "p8 · 8×131K · F16" (slots, slots x tokens per slot, KV type)."""
    if revision is None:
        return dash("no revision yet")
    short = configuration_short(revision)
    return format_html("{}", short) if short else dash("the configuration was not recorded")


def configuration_short(revision: Revision) -> str:
    """The same as plain text; empty when nothing was recorded."""
    slots = revision.parallel
    context = revision.context_per_slot
    parts = [f"p{slots}" if slots else ""]
    if context:
        parts.append(f"{slots or '?'}×{tokens_short(context)}")
    elif revision.context_total:
        parts.append(f"{tokens_short(revision.context_total)} total")
    return " · ".join(part for part in [*parts, revision.kv_type] if part)


@register.simple_tag
def verdict_icon(state: str) -> SafeString:
    """The shape alone, where the word stands beside it."""
    return icon(VERDICTS[state][0])


def plain(value: float) -> str:
    """Every digit that was reported, thousands apart."""
    return f"{value:,.10g}".replace(",", THIN)
