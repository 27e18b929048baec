"""The memory pages' charts: growth by prompt size, and what a full context would need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runs.memory.models import GrowthPoint
from runs.memory.projection import CONTEXT_CEILING, Growth, settled
from runs.memory.words import growth_sentence
from runs.plots import (
    Axis,
    Chart,
    Table,
    bars,
    build,
    bytes_unit,
    guard_line,
    line,
    points,
    wall_line,
)
from runs.plots.units import said_bytes
from runs.templatetags.figures import tokens_short

OPEN, HATCHED = "diamond-open", "/"
LEVELS = (
    ("Peak", "grown_bytes", 1, "circle"),
    ("Kept after idle", "retained_bytes", 2, "square"),
    ("Kept after the exact repeat", "after_repeat_bytes", 3, "triangle-up"),
    ("Kept after another prompt", "after_other_bytes", 4, "cross"),
)


def measured_chart(growth: Growth, rows: Sequence[GrowthPoint], note: str, csv_url: str) -> Chart:
    """Fresh prompts: peak and what stayed, each above what was there before."""
    counted = settled(rows)
    unit, name = bytes_unit(_most(growth, counted))
    x = [p.prompt_tokens for p in counted]
    traces = [
        points(title, x, [_above(p, key, unit) for p in counted], series=series, symbol=symbol)
        for title, key, series, symbol in LEVELS
    ]
    return Chart(
        key="growth",
        title="Growth by prompt size, one fresh prompt at a time",
        sentence=growth_sentence(growth),
        figure=_growth_figure([*traces, *extrapolation(growth, unit)], name),
        table=_points_table(rows),
        csv_url=csv_url,
        note=note,
    )


def imported_chart(growth: Growth, origin: str, csv_url: str) -> Chart:
    unit, name = bytes_unit(_most(growth, []))
    traces = [
        points(
            "Reported",
            growth.tokens,
            [v / unit for v in growth.grown_bytes],
            series=2,
            joined=True,
        ),
        *extrapolation(growth, unit),
    ]
    return Chart(
        key="imported-growth",
        title="Growth by prompt size, as a report has it",
        sentence=growth_sentence(growth),
        figure=_growth_figure(traces, name),
        table=Table(
            ["Prompt size", "Memory"],
            [
                [tokens_short(t), said_bytes(v)]
                for t, v in zip(growth.tokens, growth.grown_bytes, strict=True)
            ],
        ),
        csv_url=csv_url,
        note=origin,
    )


def extrapolation(growth: Growth, unit: int) -> list[Any]:
    """A dotted line and open marks: never to be taken for what was measured."""
    fit = growth.fit
    if fit is None or not growth.needs:
        return []
    inside = [min(growth.tokens), growth.largest]
    beyond = [growth.largest, CONTEXT_CEILING]
    one = [need for need in growth.needs if need.slots == 1]
    errors = [need.se_bytes for need in one]
    return [
        line("Straight line", inside, [fit.at(t) / unit for t in inside], series=1),
        line("Extrapolated", beyond, [fit.at(t) / unit for t in beyond], series=1, dash="dot"),
        points(
            "Extrapolated, one slot",
            [need.tokens for need in one],
            [fit.at(need.tokens) / unit for need in one],
            series=1,
            symbol=OPEN,
            errors=None if None in errors else [(e or 0) / unit for e in errors],
        ),
    ]


def need_chart(growth: Growth, csv_url: str) -> Chart:
    """Idle as measured, growth as extrapolated (hatched), against guard and host."""
    x = [f"{tokens_short(n.tokens)} × {n.slots}" for n in growth.needs]
    totals = [need.total_bytes for need in growth.needs]
    unit, name = bytes_unit(max(totals))
    traces: list[Any] = [
        bars("Idle, measured", x, [(n.idle_bytes or 0) / unit for n in growth.needs], series=1),
        bars(
            "Growth, extrapolated",
            x,
            [n.growth_bytes / unit for n in growth.needs],
            series=2,
            pattern=HATCHED,
            errors=[(n.se_bytes or 0) / unit for n in growth.needs],
        ),
    ]
    limits = [("Guard", growth.guard_bytes), ("Host", growth.host_bytes)]
    shown = [(title, v) for title, v in limits if v and v < 4 * max(totals)]
    drawn = {"Guard": guard_line, "Host": wall_line}
    traces += [drawn[title](title, x, v / unit) for title, v in shown]
    far = [f"{t.lower()} at {said_bytes(v)}" for t, v in limits if v and (t, v) not in shown]
    return Chart(
        key="need",
        title="What a full context would need",
        sentence=_need_finding(growth),
        figure=build(traces, x_title="tokens × slots", axes=[Axis(name)], barmode="stack"),
        table=Table(
            ["Tokens × slots", "Idle", "Growth", "±", "Together"],
            [
                [
                    label,
                    said_bytes(n.idle_bytes) if n.idle_bytes is not None else None,
                    said_bytes(n.growth_bytes),
                    said_bytes(n.se_bytes) if n.se_bytes is not None else None,
                    said_bytes(n.total_bytes),
                ]
                for label, n in zip(x, growth.needs, strict=True)
            ],
        ),
        csv_url=csv_url,
        note=f"Above the picture: {', '.join(far)}." if far else "",
    )


def _need_finding(growth: Growth) -> str:
    """How many of the cases fit."""
    if growth.guard_bytes is None:
        return "No guard is known to compare with: record the host's memory."
    over = [n for n in growth.needs if n.total_bytes > growth.guard_bytes]
    allowed = f"the guard's {said_bytes(growth.guard_bytes)} ({growth.guard_origin})"
    if not over:
        return f"All of these stay within {allowed}, if growth goes on as measured."
    first = over[0]
    return (
        f"From {tokens_short(first.tokens)} in {first.slots} "
        f"{'slot' if first.slots == 1 else 'slots'} on it would be over {allowed}."
    )


def _growth_figure(traces: Sequence[Any], unit_name: str) -> dict[str, Any]:
    return build(traces, x_title="prompt tokens", axes=[Axis(unit_name)], hovermode="closest")


def _most(growth: Growth, counted: Sequence[GrowthPoint]) -> float:
    one_slot = [n.growth_bytes for n in growth.needs if n.slots == 1]
    return max([*growth.grown_bytes, *one_slot, *(p.grown_bytes for p in counted)], default=0.0)


def _above(point: GrowthPoint, key: str, unit: int) -> float | None:
    """A level as what is above `before`; the peak is that already, and never negative."""
    value: int | None = getattr(point, key)
    if key == "grown_bytes" or value is None:
        return None if value is None else value / unit
    return (value - point.before_bytes) / unit


def _points_table(rows: Sequence[GrowthPoint]) -> Table:
    columns = ["Prompt tokens", "Run", "Before", "Peak", "After idle", "After repeat"]
    shown = [
        [
            f"{p.prompt_tokens:,}" + ("" if p.is_clean else " (not clean, not counted)"),
            f"#{p.run_id}",
            *(
                said_bytes(value) if value is not None else None
                for value in (
                    p.before_bytes,
                    p.peak_bytes,
                    p.retained_bytes,
                    p.after_repeat_bytes,
                    p.after_other_bytes,
                )
            ),
        ]
        for p in rows
    ]
    return Table([*columns, "After another"], shown)
