"""How a report's figures are written: as reported, never as if we had measured them."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalog.models import ImportedFigure
from catalog.selectors import METRIC_TITLES
from runs.templatetags.figures import THIN, dash, plain

register = template.Library()


@register.filter
def metric_title(figure: ImportedFigure) -> str:
    """ "ttft_mean_s" as "TTFT, mean"; an unknown metric as it is named."""
    return METRIC_TITLES.get(figure.metric, figure.metric.replace("_", " "))


@register.filter
def imported_value(figure: ImportedFigure) -> SafeString:
    """Value or range with unit, "~" where the report said about, or the report's words."""
    if figure.value is None:
        return format_html("{}", figure.text) if figure.text else dash("no number in the report")
    about = f"~{THIN}" if figure.is_approximate else ""
    upper = f"–{plain(figure.value_max)}" if figure.value_max is not None else ""
    unit = f"{THIN}{figure.unit}" if figure.unit else ""
    return format_html(
        '<span class="figure">{}</span>', f"{about}{plain(figure.value)}{upper}{unit}"
    )


@register.filter
def remarks(figure: ImportedFigure) -> str:
    """What the report said beside the figure."""
    parts = [
        "historical baseline" if figure.is_historical else "",
        f"by {figure.reported_by}" if figure.reported_by else "",
        figure.note if figure.note != figure.text else "",
    ]
    sentence = "; ".join(part for part in parts if part)
    return sentence[:1].upper() + sentence[1:]
