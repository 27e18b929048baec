"""Reported requests hour by hour: what completed, what did not, and where nothing was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from runs.plots import Axis, Chart, Table, bars, build, drawn_rows, line
from runs.templatetags.figures import humane_seconds
from runs.traffic.histogram import Counts, percentile
from runs.traffic.models import Hour
from runs.traffic.selectors import Counted, added_up

HOUR = timedelta(hours=1)
GAP = "No report"
COLOURS = {
    "Completed": "var(--good)",
    "Not completed": "var(--bad)",
    "Undecided": "var(--calm)",
}
NOTE = (
    "Origin: server, as the proxy reported it; never mixed with what is timed here. TTFT is of "
    "completed, streamed requests, read from counts in steps of 2 %. An hour without a report "
    "may have been quiet or lost: that cannot be told, so it counts for nothing."
)


@dataclass(frozen=True, slots=True)
class Slot:
    """One hour of the window; no counts where nothing was reported."""

    start: datetime
    counted: Counted | None
    ttfts: Counts


def slots(rows: Iterable[Hour], start: datetime, end: datetime) -> list[Slot]:
    """Every hour from `start` to `end`, revisions added up."""
    known: dict[datetime, list[Hour]] = {}
    for row in rows:
        known.setdefault(row.start, []).append(row)
    found = []
    while start < end:
        here = known.get(start)
        counted, ttfts = added_up(here) if here else (None, {})
        found.append(Slot(start, counted, ttfts))
        start += HOUR
    return found


def hour_chart(seen: Sequence[Slot], csv_url: str) -> Chart:
    x = [slot.start.strftime("%Y-%m-%d %H:%M") for slot in seen]
    figure = build(
        [*outcome_bars(x, seen), *ttft_lines(x, seen)],
        x_title="hour (UTC)",
        axes=[Axis("requests", 2), Axis("TTFT ms", 1)],
        height=420,
        barmode="stack",
        bargap=0.1,
    )
    # As text, times would be spelled one under the other.
    figure["layout"]["xaxis"]["type"] = "date"
    return Chart(
        key="traffic-hours",
        title="Reported requests by hour",
        sentence=sentence(seen),
        figure=figure,
        table=table(seen),
        csv_url=csv_url,
        note=NOTE,
    )


def outcome_bars(x: list[str], seen: Sequence[Slot]) -> list[Any]:
    """Stacked counts; hours without a report as hatched stubs, so that a gap is seen."""
    names = ("completed", "not_completed", "undecided")
    traces = []
    for (title, colour), name in zip(COLOURS.items(), names, strict=True):
        counts = [getattr(slot.counted, name) if slot.counted else None for slot in seen]
        bar = bars(title, x, counts)
        bar.marker.color = colour
        traces.append(bar)
    highest = max((slot.counted.total for slot in seen if slot.counted), default=1)
    stub = max(1.0, highest / 12)
    gaps = [None if slot.counted else stub for slot in seen]
    if any(gaps):
        gap = bars(GAP, x, gaps, pattern="/", hovertemplate="nothing reported")
        gap.marker.color = "var(--warn-soft)"
        gap.marker.pattern.fgcolor = "var(--warn)"
        traces.append(gap)
    return traces


def ttft_lines(x: list[str], seen: Sequence[Slot]) -> list[Any]:
    return [
        line(
            f"TTFT p{share:.0%}".rstrip("%"),
            [],
            [percentile(slot.ttfts, share) for slot in seen],
            series=series,
            dash=dash,
            yaxis="y2",
        ).update(x=x)
        for share, series, dash in ((0.5, 1, "solid"), (0.95, 2, "dash"))
    ]


def sentence(seen: Sequence[Slot]) -> str:
    """How much completed, and how much of the time was reported on."""
    counted = [slot.counted for slot in seen if slot.counted]
    completed = sum(one.completed for one in counted)
    decided = completed + sum(one.not_completed for one in counted)
    if not counted:
        return f"Nothing was reported in these {humane_seconds(len(seen) * 3600)}."
    told = f"{completed:,} of {decided:,} decided requests completed"
    told += f" ({completed / decided:.2%})" if decided else ""
    undecided = sum(one.undecided for one in counted)
    told += f"; {undecided:,} more cannot be judged" if undecided else ""
    missing = len(seen) - len(counted)
    if not missing:
        return f"{told}. Every hour has a report."
    return f"{told}. {missing} of {len(seen)} hours have no report."


def table(seen: Sequence[Slot]) -> Table:
    """Only hours with a report; the CSV has them all."""
    rows = [
        [
            f"{slot.start:%Y-%m-%d %H:%M}",
            slot.counted.completed,
            slot.counted.not_completed,
            slot.counted.undecided,
            *(rounded(percentile(slot.ttfts, share)) for share in (0.5, 0.95)),
        ]
        for slot in seen
        if slot.counted
    ]
    columns = ["Hour (UTC)", "Completed", "Not completed", "Undecided", "p50 ms", "p95 ms"]
    return Table(columns, rows)


def rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def csv_rows(chart: Chart) -> Iterator[list[Any]]:
    """What is drawn; the height of a gap is none of the figures."""
    for series, x, x_unit, y, y_unit in drawn_rows(chart.figure):
        if series != GAP:
            yield [series, x, x_unit, y, y_unit]
        elif y is not None:
            yield [series, x, x_unit, None, ""]
