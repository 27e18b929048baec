"""A sweep's charts: one picture for each question, one line for each value of the other axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from catalog.models import ImportedFigure
from runs.plots import Axis, Chart, Table, build, bytes_unit, points
from runs.sweeps.reading.findings import compared
from runs.sweeps.reading.places import Contract, Place, efficiency

AXES = {"parallel": "runtime parallel (slots)", "clients": "client concurrency (requests open)"}
OPEN = "diamond-open"
NOTE = (
    "Client-measured, medians over the repeats that count; bars are 95 % bootstrap intervals "
    "where there are three or more. A single measurement stands as a point without a bar."
)
MEMORY_NOTE = "Resident memory of the server's process tree, sampled here; after a rest of 2 s."


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: a figure of a place, shown in `unit` after division by `scale`."""

    metric: str
    title: str
    scale: float = 1.0


def charts_of(
    contract: Contract,
    places: Sequence[Place],
    *,
    by: str,
    csv: dict[str, str],
    imported: Sequence[ImportedFigure] = (),
) -> list[Chart]:
    """`by` is a key of AXES; `csv` the address of each chart's CSV by its key."""
    made = [
        ttft_chart(contract, places, by, csv.get("ttft", ""), imported),
        throughput_chart(contract, places, by, csv.get("throughput", "")),
        completion_chart(contract, places, by, csv.get("completion", "")),
        memory_chart(contract, places, by, csv.get("memory", "")),
    ]
    return [chart for chart in made if chart is not None]


def ttft_chart(
    contract: Contract,
    places: Sequence[Place],
    by: str,
    csv_url: str,
    imported: Sequence[ImportedFigure],
) -> Chart | None:
    prefix, title = ("ttft", "TTFT") if has(places, "ttft_p50_ms") else ("end", "Whole request")
    if not has(places, f"{prefix}_p50_ms"):
        return None
    panels = [
        Panel(f"{prefix}_{name}_ms", f"{name} s", 1000) for name in ("mean", "p50", "p95", "max")
    ]
    traces = lines(places, panels, by) + imported_points(imported, by)
    return chart(
        "ttft", f"{title}, {contract.words}", spread_sentence(places, f"{prefix}_p50_ms", title),
        traces, panels, places, by, csv_url, height=720,
    )  # fmt: skip


def throughput_chart(
    contract: Contract, places: Sequence[Place], by: str, csv_url: str
) -> Chart | None:
    panels = [
        Panel("aggregate_tps", "all, tok/s"),
        Panel("per_request_tps", "each, tok/s"),
        Panel("requests_per_s", "requests/s"),
    ]
    panels = [panel for panel in panels if has(places, panel.metric)]
    if not panels:
        return None
    return chart(
        "throughput", f"Throughput, {contract.words}", scaling_sentence(places),
        lines(places, panels, by), panels, places, by, csv_url, height=240 * len(panels),
    )  # fmt: skip


def completion_chart(contract: Contract, places: Sequence[Place], by: str, csv_url: str) -> Chart:
    traces = []
    for number, (name, group) in enumerate(by_other(places, by).items(), start=1):
        x = [axis_value(place, by) for place in group]
        y = [None if p.completion is None else p.completion * 100 for p in group]
        traces.append(points(name, x, y, series=number, joined=True))
    short = [place for place in places if place.completed < place.asked]
    sentence = (
        "Every request completed."
        if not short
        else "Not all completed: "
        + ", ".join(f"{p.name} {p.completed} of {p.asked}" for p in short[:6])
        + "."
    )
    figure = build(
        traces,
        x_title=AXES[by],
        axes=[Axis("completed %", range=(0, 105))],
        x_ticks=ticks(places, by),
        height=260,
    )
    rows = [[p.name, p.completed, p.asked, "; ".join(p.left_out) or "none"] for p in places]
    return Chart(
        key="completion",
        title=f"Completion, {contract.words}",
        sentence=sentence,
        figure=figure,
        table=Table(["Place", "Completed", "Asked", "Left out of averages"], rows),
        csv_url=csv_url,
        note="Of all requests that the plan asked for; what was never sent did not complete.",
    )


def memory_chart(
    contract: Contract, places: Sequence[Place], by: str, csv_url: str
) -> Chart | None:
    peaks = [place.mid("peak_rss_bytes") for place in places]
    known = [peak for peak in peaks if peak is not None]
    if not known:
        return None
    unit, name = bytes_unit(max(known))
    panels = [
        Panel("peak_rss_bytes", f"peak {name}", unit),
        Panel("retained_bytes", f"retained {name}", unit),
    ]
    low, high = min(known) / unit, max(known) / unit
    return chart(
        "memory", f"Memory, {contract.words}",
        f"Peak memory is between {low:,.2f} and {high:,.2f} {name} over the grid.",
        lines(places, panels, by), panels, places, by, csv_url, height=460, note=MEMORY_NOTE,
    )  # fmt: skip


# --- parts ---


def chart(
    key: str,
    title: str,
    sentence: str,
    traces: list[Any],
    panels: Sequence[Panel],
    places: Sequence[Place],
    by: str,
    csv_url: str,
    *,
    height: int,
    note: str = NOTE,
) -> Chart:
    figure = build(
        traces,
        x_title=AXES[by],
        axes=[Axis(panel.title) for panel in panels],
        x_ticks=ticks(places, by),
        height=height,
    )
    rows = [
        [place.name, *(shown(place, panel) for panel in panels), repeats(place)]
        for place in places
    ]
    columns = ["Place", *(panel.title for panel in panels), "Repeats"]
    return Chart(key, title, sentence, figure, Table(columns, rows), csv_url, note)


def lines(places: Sequence[Place], panels: Sequence[Panel], by: str) -> list[Any]:
    """One trace for each panel and value of the other axis; named once in the legend."""
    traces = []
    for row, panel in enumerate(panels, start=1):
        for number, (name, group) in enumerate(by_other(places, by).items(), start=1):
            found = [(axis_value(p, by), p.interval(panel.metric)) for p in group]
            trace = points(
                name,
                [x for x, _ in found],
                [value.mid / panel.scale if value else None for _, value in found],
                series=number,
                joined=True,
                yaxis="y" if row == 1 else f"y{row}",
                legendgroup=name,
                showlegend=row == 1,
            )
            trace.error_y = whiskers(found, panel.scale)
            traces.append(trace)
    return traces


def whiskers(found: Sequence[tuple[int, Any]], scale: float) -> dict[str, Any] | None:
    """Uneven bars of the intervals; none where no place has one."""
    if not any(value and value.low is not None for _, value in found):
        return None
    above, below = [], []
    for _, value in found:
        known = value is not None and value.low is not None
        above.append((value.high - value.mid) / scale if known else 0)
        below.append((value.mid - value.low) / scale if known else 0)
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below}


def imported_points(figures: Sequence[ImportedFigure], by: str) -> list[Any]:
    """A report's figures: open symbols of their own colour, never joined to measured ones."""
    found = [(imported_x(figure), figure) for figure in figures]
    drawn = [(x, figure) for x, figure in found if x is not None and figure.value is not None]
    if by != "parallel" or not drawn:
        return []
    return [
        points(
            "Imported from the report",
            [x for x, _ in drawn],
            [figure.value for _, figure in drawn],
            series=8,
            symbol=OPEN,
            text=[figure.workload for _, figure in drawn],
        )
    ]


def reported_chart(figures: Sequence[ImportedFigure], csv_url: str = "") -> Chart:
    """A report's figures alone, on the axis that a sweep of the deployment would have."""
    rows = [[f"p{imported_x(f)}", f.workload, f.value, f.unit] for f in figures]
    found = ", ".join(f"p{imported_x(f)} {f.value:g} {f.unit}" for f in figures if f.value)
    name = "TTFT, mean, s" if figures[0].metric.startswith("ttft") else "whole request, s"
    return Chart(
        key="reported",
        title=f"Reported: {figures[0].workload.split(', p')[0]}",
        sentence=f"The report says {found}. Nothing of it was measured here.",
        figure=build(
            imported_points(figures, "parallel"),
            x_title=AXES["parallel"],
            axes=[Axis(name)],
            x_ticks={float(x): str(x) for f in figures if (x := imported_x(f))},
            height=300,
        ),
        table=Table(["Parallel", "Workload", "Value", "Unit"], rows),
        csv_url=csv_url,
        note=f"Imported from the report of {figures[0].reported_on:%Y-%m-%d}; never counted.",
    )


def imported_x(figure: ImportedFigure) -> int | None:
    """The runtime parallel that a report's line is about: its position, or `pN` in its words."""
    if figure.x_label.isdecimal():
        return int(figure.x_label)
    marks = [word.strip(",") for word in figure.workload.split()]
    return next((int(w[1:]) for w in marks if w[:1] == "p" and w[1:].isdecimal()), None)


def by_other(places: Sequence[Place], by: str) -> dict[str, list[Place]]:
    """Lines: places that share the value which is not on the axis."""
    found: dict[str, list[Place]] = {}
    for place in sorted(places, key=lambda p: (other_value(p, by), axis_value(p, by))):
        name = (
            f"{place.client_concurrency} clients"
            if by == "parallel"
            else (f"p{place.runtime_parallel}" if place.runtime_parallel else "as it runs")
        )
        found.setdefault(name, []).append(place)
    return found


def axis_value(place: Place, by: str) -> int:
    return (place.runtime_parallel or 0) if by == "parallel" else place.client_concurrency


def other_value(place: Place, by: str) -> int:
    return axis_value(place, "clients" if by == "parallel" else "parallel")


def ticks(places: Sequence[Place], by: str) -> dict[float, str]:
    return {float(x): str(x) for x in sorted({axis_value(place, by) for place in places})}


def has(places: Sequence[Place], metric: str) -> bool:
    return any(place.values.get(metric) for place in places)


def shown(place: Place, panel: Panel) -> str | None:
    found = place.interval(panel.metric)
    if found is None:
        return None
    mid = f"{found.mid / panel.scale:,.3f}"
    if found.low is None or found.high is None:
        return mid
    return f"{mid} ({found.low / panel.scale:,.3f} to {found.high / panel.scale:,.3f})"


def repeats(place: Place) -> int:
    return max((len(values) for values in place.values.values()), default=0)


def spread_sentence(places: Sequence[Place], metric: str, title: str) -> str:
    known = [place for place in places if place.mid(metric) is not None]
    best = min(known, key=lambda place: place.mid(metric) or 0)
    worst = max(known, key=lambda place: place.mid(metric) or 0)
    if best is worst:
        return f"Median {title} at {best.name} is {(best.mid(metric) or 0) / 1000:,.2f} s."
    return (
        f"Median {title} goes from {(best.mid(metric) or 0) / 1000:,.2f} s at {best.name} to "
        f"{(worst.mid(metric) or 0) / 1000:,.2f} s at {worst.name}."
    )


def scaling_sentence(places: Sequence[Place]) -> str:
    told = [(place, efficiency(places, place)) for place in places]
    known = [
        (place, share)
        for place, share in told
        if share is not None and place.runtime_parallel != 1
    ]
    if not known:
        metric = "aggregate_tps" if has(places, "aggregate_tps") else "requests_per_s"
        best = max(places, key=lambda place: place.mid(metric) or 0)
        unit = "tok/s" if metric == "aggregate_tps" else "requests/s"
        return f"The most is {best.mid(metric) or 0:,.1f} {unit}, at {best.name}."
    place, share = max(
        known, key=lambda pair: (pair[0].runtime_parallel or 0, pair[0].client_concurrency)
    )
    base = next(
        p for p in places if p.runtime_parallel == 1
        and p.client_concurrency == place.client_concurrency
    )  # fmt: skip
    difference = compared("aggregate_tps", base, place)
    percent = f" ({difference.percent:+.0f} %)" if difference else ""
    return (
        f"{place.name} has {share:.0%} of perfect scaling against p1{percent}: with "
        f"{place.runtime_parallel} slots, {1 / (place.runtime_parallel or 1):.0%} would be none."
    )
