"""Figures in one look: no template, colours by name, readable from phone to wide screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from runs.plots.chart import Figure

Values = Iterable[float | None]
PANEL_GAP = 0.07


@dataclass(frozen=True, slots=True)
class Axis:
    """A vertical axis: its unit, its share of the height, and the range where it is fixed."""

    title: str
    share: float = 1.0
    range: tuple[float, float] | None = None
    ticks: dict[float, str] | None = None
    from_zero: bool = True


def line(
    name: str, x: Values, y: Values, *, series: int = 1, dash: str = "solid", **more: Any
) -> go.Scatter:
    """Measured samples over time. Gaps (None, NaN) stay gaps."""
    return go.Scatter(
        name=name,
        x=_plain(x),
        y=_plain(y),
        mode="lines",
        connectgaps=False,
        line={"color": _series(series), "dash": dash, "width": 1.6},
        **more,
    )


def points(
    name: str,
    x: Values,
    y: Values,
    *,
    series: int = 1,
    symbol: str = "circle",
    joined: bool = False,
    errors: Sequence[float] | None = None,
    **more: Any,
) -> go.Scatter:
    """Single measurements; told apart by colour and symbol."""
    return go.Scatter(
        name=name,
        x=_plain(x),
        y=_plain(y),
        mode="lines+markers" if joined else "markers",
        marker={"color": _series(series), "symbol": symbol, "size": 9},
        line={"color": _series(series), "width": 1.4},
        error_y=None if errors is None else {"array": list(errors), "color": _series(series)},
        **more,
    )


def bars(
    name: str,
    x: Sequence[Any],
    y: Values,
    *,
    series: int = 1,
    pattern: str = "",
    errors: Sequence[float] | None = None,
    **more: Any,
) -> go.Bar:
    """Bars; a pattern marks what was not measured."""
    hatch = {"shape": pattern, "fgcolor": _series(series), "bgcolor": "rgba(0,0,0,0)"}
    return go.Bar(
        name=name,
        x=list(x),
        y=_plain(y),
        marker={"color": _series(series), "pattern": hatch if pattern else None},
        error_y=None if errors is None else {"array": list(errors), "color": "var(--ink-2)"},
        **more,
    )


def guard_line(name: str, x: Sequence[Any], value: float, **more: Any) -> go.Scatter:
    """A limit that we keep: dashed and in the colour of what is bad."""
    return _level(name, x, value, {"color": "var(--bad)", "dash": "dash"}, more)


def wall_line(name: str, x: Sequence[Any], value: float, **more: Any) -> go.Scatter:
    """What there is at all, such as a machine's memory: a plain line."""
    return _level(name, x, value, {"color": "var(--ink-2)", "dash": "solid"}, more)


def _level(
    name: str, x: Sequence[Any], value: float, look: dict[str, str], more: dict[str, Any]
) -> go.Scatter:
    y = [value] * len(x)
    return go.Scatter(name=name, x=list(x), y=y, mode="lines", line={**look, "width": 1.4}, **more)


def build(
    traces: Sequence[Any],
    *,
    x_title: str,
    axes: Sequence[Axis],
    x_ticks: dict[float, str] | None = None,
    height: int = 320,
    **layout: Any,
) -> Figure:
    """The figure as JSON-ready data. Several axes are panels below each other over one x axis.

    A trace of the second panel has `yaxis="y2"`, and so on. The first is on top.
    """
    figure = go.Figure(data=list(traces), layout=go.Layout(template=go.layout.Template()))
    look = dict(
        height=height,
        margin={"l": 56, "r": 16, "t": 8, "b": 48},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": "var(--ink-2)", "size": 12},
        hovermode="x unified",
        hoverlabel={"bgcolor": "var(--surface)", "bordercolor": "var(--line-strong)"},
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "traceorder": "normal",
        },
        xaxis={
            **_ruled(x_title),
            **_ticks(x_ticks),
            "anchor": _y(len(axes)),
            "rangemode": "nonnegative",
        },
        bargap=0.45,
        **_panels(axes),
    )
    figure.update_layout(**(look | layout))
    data: Figure = figure.to_plotly_json()
    data["layout"].pop("template", None)
    return data


def _panels(axes: Sequence[Axis]) -> dict[str, Any]:
    """Vertical axes from the top down, each with its share of the height."""
    whole = sum(axis.share for axis in axes)
    room = 1 - PANEL_GAP * (len(axes) - 1)
    panels, top = {}, 1.0
    for number, axis in enumerate(axes, start=1):
        bottom = top - room * axis.share / whole
        panels["yaxis" + _y(number)[1:]] = {
            **_ruled(axis.title),
            **_ticks(axis.ticks),
            "domain": [max(bottom, 0.0), top],
            "rangemode": "tozero" if axis.from_zero else "normal",
            **({"range": list(axis.range)} if axis.range else {}),
        }
        top = bottom - PANEL_GAP
    return panels


def _y(number: int) -> str:
    return "y" if number == 1 else f"y{number}"


def _ruled(title: str) -> dict[str, Any]:
    return {
        "title": {"text": title, "standoff": 6},
        "gridcolor": "var(--line)",
        "linecolor": "var(--line-strong)",
        "zerolinecolor": "var(--line-strong)",
        "automargin": True,
    }


def _ticks(ticks: dict[float, str] | None) -> dict[str, Any]:
    if ticks is None:
        return {}
    return {"tickmode": "array", "tickvals": list(ticks), "ticktext": list(ticks.values())}


def _series(number: int) -> str:
    return f"var(--series-{number})"


def _plain(values: Values) -> list[float | None]:
    """JSON has no NaN; six digits are more than a screen shows."""
    return [
        None if value is None or not math.isfinite(value) else float(f"{value:.7g}")
        for value in values
    ]
