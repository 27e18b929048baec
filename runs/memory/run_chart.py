"""Memory over a run, with its requests, guards and the server's own figures on one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from runs.memory.fits import Drift, theil_sen
from runs.memory.growth import end_of
from runs.memory.metrics import EXPLAINED, METRICS, best_figure
from runs.memory.reading import Series, read_series, series_names
from runs.memory.words import drift_sentence
from runs.models import Outcome, Run, RunRequest
from runs.plots import Axis, Chart, Table, build, bytes_unit, guard_line, line, time_unit
from runs.plots.units import said_bytes, said_time
from runs.templatetags.figures import OUTCOMES

MAX_MARKS = 600  # requests drawn one by one
DRIFT_FROM_MS = 3_600_000  # shorter runs warm up rather than drift
DAY_MS = 86_400_000
NEAR = 4.0  # a limit this many times above the peak would flatten everything
LOAD = ("slots_busy", "requests_waiting")
SHARES = ("kv_usage_ratio",)
COUNTERS = ("prompt_tokens_total", "cached_tokens_total", "completion_tokens_total")
COLOURS = 4  # in the palette
LOAD_PANELS = ((LOAD, "number", 3), (SHARES, "share", 2), (COUNTERS, "tokens", 1))
MARKS = {
    Outcome.CLEAN_PASS: "var(--good)",
    Outcome.DEGRADED: "var(--warn)",
    Outcome.FAIL: "var(--bad)",
    Outcome.INCONCLUSIVE: "var(--calm)",
}


def run_chart(run: Run, csv_url: str = "") -> Chart | None:
    """None when no sample tells anything about the server or its memory."""
    names = series_names(run.pk)
    figure = best_figure(names)
    drawn = {
        name: read_series(run.pk, name)
        for name in (figure, "server_memory_bytes", *LOAD, *SHARES, *COUNTERS)
        if name in names
    }
    if not drawn:
        return None
    requests = list(run.requests.order_by("started_offset_ms", "index")[:MAX_MARKS])
    span = max(float(s.times_ms[-1]) for s in drawn.values())
    size, unit = time_unit(span)
    traces, axes = panels(run, figure, drawn, requests, (size, span))
    return Chart(
        key="run-memory",
        title="Memory of the server over the run",
        sentence=finding(run, figure, drawn.get(figure or "")),
        figure=build(traces, x_title=unit, axes=axes, height=180 + 110 * len(axes)),
        table=summary(drawn),
        csv_url=csv_url,
        note=_note(figure, drawn),
    )


def panels(
    run: Run,
    figure: str | None,
    drawn: dict[str, Series],
    requests: Sequence[RunRequest],
    scale: tuple[int, float],
) -> tuple[list[Any], list[Axis]]:
    """Memory on top, then requests, load, KV share and token counters, as far as there are any."""
    stack: list[tuple[list[Any], Axis]] = []
    memory = [name for name in (figure, "server_memory_bytes") if name in drawn]
    if memory:
        stack.append(memory_panel(run, [drawn[str(name)] for name in memory], scale))
    if requests:
        stack.append(requests_panel(requests, scale[0]))
    for keys, title, first in LOAD_PANELS:
        known = [drawn[key] for key in keys if key in drawn]
        if known:
            stack.append((lines(known, scale[0], first=first), Axis(title, 1)))
    traces = []
    for place, (own, _) in enumerate(stack, start=1):
        for trace in own:
            trace.yaxis = "y" if place == 1 else f"y{place}"
            traces.append(trace)
    return traces, [axis for _, axis in stack]


def memory_panel(
    run: Run, series: Sequence[Series], scale: tuple[int, float]
) -> tuple[list[Any], Axis]:
    highest = max(peak(one) or 0.0 for one in series)
    unit, name = bytes_unit(highest)
    size, span = scale
    traces = lines(series, size, unit)
    limit = run.report.get("memory", {}).get("process_limit_bytes")
    if limit and limit < NEAR * highest:
        traces.append(guard_line("Process guard", [0, span / size], limit / unit))
    return traces, Axis(name, 3)


def lines(series: Sequence[Series], size: int, unit: int = 1, first: int = 1) -> list[Any]:
    """Told apart by dash as well; `first` is the colour of the first."""
    dashes = ("solid", "dash", "dot")
    return [
        line(
            METRICS[one.name].title,
            (one.times_ms / size).tolist(),
            (one.values / unit).tolist(),
            series=(first + place - 1) % COLOURS + 1,
            dash=dashes[place % 3],
        )
        for place, one in enumerate(series)
    ]


def requests_panel(requests: Sequence[RunRequest], size: int) -> tuple[list[Any], Axis]:
    """Each request as a bar at its time; those open together lie in lanes of their own."""
    lanes: list[float] = []
    marks: dict[str, list[tuple[float, float, int, str]]] = {}
    for request in requests:
        start, end = request.started_offset_ms, end_of(request)
        lane = next((n for n, free in enumerate(lanes) if free <= start), len(lanes))
        lanes[lane : lane + 1] = [end]
        marks.setdefault(request.outcome, []).append((start, end, lane + 1, request.label))
    traces = [_marks(outcome, found, size) for outcome, found in marks.items()]
    return traces, Axis("requests", 1, range=(0.2, len(lanes) + 0.8), ticks={})


def _marks(outcome: str, found: Sequence[tuple[float, float, int, str]], size: int) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    text: list[str] = []
    for start, end, lane, label in found:
        x += [start / size, end / size, None]
        y += [lane, lane, None]
        text += [label, label, ""]
    return go.Scatter(
        name=f"Requests: {OUTCOMES[outcome][1].lower()}",
        x=x,
        y=y,
        text=text,
        hovertemplate="%{text}",
        mode="lines",
        line={"color": MARKS[Outcome(outcome)], "width": 6},
    )


def finding(run: Run, figure: str | None, series: Series | None) -> str:
    """First, peak, last and the guard; and the drift where a run was long enough for one."""
    if series is None or not series:
        return not_observed(run)
    seen = series.values[np.isfinite(series.values)]
    title = METRICS[series.name].title
    told = (
        f"{title} began at {said_bytes(seen[0])}, peaked at {said_bytes(seen.max())} and ended at "
        f"{said_bytes(seen[-1])}"
    )
    memory = run.report.get("memory", {})
    if trip := memory.get("trip"):
        return f"{told}. The guard stopped the run: {trip['sentence']}"
    limit = memory.get("process_limit_bytes")
    guard = f"; the guard allows {said_bytes(limit)}" if limit else ""
    drift = drift_of(series)
    span = said_time(float(series.times_ms[-1] - series.times_ms[0]))
    tail = f" {drift_sentence(drift, title, span)}" if drift else ""
    return f"{told}{guard}.{tail}"


FACTS = (
    "peak_bytes",
    "process_limit_bytes",
    "process_limit_origin",
    "available_floor_bytes",
    "growth_limit_bytes_per_s",
    "processes",
    "trip",
    "after_trip",
)


def memory_facts(run: Run) -> dict[str, Any]:
    """What the engine reported of memory; None for what it did not (`Watch.report()`)."""
    return {**dict.fromkeys(FACTS), **run.report.get("memory", {})}


def not_observed(run: Run) -> str:
    reason = run.report.get("memory", {}).get("not_observed", "")
    return f"The server's memory was not observed. {reason}".strip()


def drift_of(series: Series) -> Drift | None:
    """Bytes a day, for runs long enough."""
    if len(series.times_ms) < 2 or series.times_ms[-1] - series.times_ms[0] < DRIFT_FROM_MS:
        return None
    return theil_sen(series.times_ms / DAY_MS, series.values)


def peak(series: Series) -> float | None:
    return float(np.nanmax(series.values)) if series else None


def summary(drawn: dict[str, Series]) -> Table:
    """One row for each line; the CSV has the points."""
    rows = []
    for name, series in drawn.items():
        metric = METRICS[name]
        seen = series.values[np.isfinite(series.values)]
        levels = (seen[0], seen.min(), seen.max(), seen[-1]) if len(seen) else (None,) * 4
        rows.append(
            [
                metric.title,
                metric.origin,
                *(said_value(value, metric.unit) for value in levels),
                f"{series.samples:,}",
            ]
        )
    return Table(["Series", "Origin", "First", "Lowest", "Highest", "Last", "n"], rows)


def said_value(value: float | None, unit: str) -> str | None:
    if value is None:
        return None
    if unit == "bytes":
        return said_bytes(value)
    return f"{value:.0%}" if unit == "share" else f"{value:,.6g} {unit}".strip()


def _note(figure: str | None, drawn: dict[str, Series]) -> str:
    parts = [f"Shown is the {EXPLAINED[figure]}." if figure else ""]
    step_ms = max(series.step_ms for series in drawn.values())
    if step_ms:
        parts.append(f"Old samples are kept as lowest and highest of each {said_time(step_ms)}.")
    if any(len(s.times_ms) < s.samples for s in drawn.values()):
        parts.append("Thinned for the picture: every peak, low and gap is kept.")
    return " ".join(part for part in parts if part)
