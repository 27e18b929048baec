"""Charts of a campaign over its time: TTFT, decode, memory and queue, one point a cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runs.campaigns.reading.change import Change, change_point
from runs.plots import Axis, Chart, Table, build, bytes_unit, line, points

FIELDS = (
    "number", "started_at", "outcome", "failure_class", "ttft_ms", "ttft_max_ms", "decode_tps",
    "rss_after_bytes", "rss_peak_bytes", "queued_max", "server_started_at", "part", "run_id",
)  # fmt: skip
MOST_POINTS = 1500
SPEED_NOTE = (
    "Client-measured, of each cycle's own short, fresh, one-at-a-time requests that passed. A "
    "change point is where the level changed by Pettitt's rank test (p under 0.001)."
)
MEMORY_NOTE = "Resident memory of the server's process tree when a cycle ended, sampled here."


@dataclass(frozen=True, slots=True)
class Point:
    """One cycle that ended: what was measured in it. Times of the wall clock."""

    number: int
    at: datetime
    outcome: str
    failure_class: str
    ttft_ms: float | None
    ttft_max_ms: float | None
    decode_tps: float | None
    rss_after_bytes: int | None
    rss_peak_bytes: int | None
    queued_max: int | None
    server_started_at: float | None
    run_id: int | None


def point_of(row: dict[str, Any]) -> Point:
    return Point(
        at=row["started_at"], **{k: row[k] for k in FIELDS if k not in ("started_at", "part")}
    )


def charts_of(seen: Sequence[Point], csv: dict[str, str]) -> list[Chart]:
    """Only charts that have something to show."""
    made = [
        speed_chart(seen, csv.get("speed", "")),
        memory_chart(seen, csv.get("memory", "")),
        queue_chart(seen, csv.get("queue", "")),
    ]
    return [chart for chart in made if chart is not None]


def speed_chart(seen: Sequence[Point], csv_url: str) -> Chart | None:
    here = [point for point in seen if point.ttft_ms is not None]
    if not here:
        return None
    x = times(thinned(here))
    few = thinned(here)
    traces = [
        line("TTFT, median of the cycle", [], [p.ttft_ms for p in few], series=1).update(x=x),
        line(
            "TTFT, longest of the cycle", [], [p.ttft_max_ms for p in few], series=2, dash="dot"
        ).update(x=x),
        line("Decode", [], [p.decode_tps for p in few], series=3, yaxis="y2").update(x=x),
    ]
    changes = [
        ("TTFT", "ms", changed(here, lambda p: p.ttft_ms)),
        ("Decode", "tok/s", changed(here, lambda p: p.decode_tps)),
    ]
    traces += [
        change_mark(name, change, at, "y" if name == "TTFT" else "y2")
        for name, _, (change, at) in changes
        if change is not None
    ]
    said = [told(name, unit, *found) for name, unit, found in changes if found[0] is not None]
    return Chart(
        key="speed",
        title="TTFT and decode over time",
        sentence=" ".join(said) or f"No change of level in {len(here):,} cycles.",
        figure=dated(build(
            traces, x_title="time (UTC)", axes=[Axis("TTFT ms", 2), Axis("decode tok/s", 1)],
            height=420,
        )),
        table=table(here, ["TTFT ms", "Longest ms", "Decode tok/s"],
                    lambda p: [rounded(p.ttft_ms), rounded(p.ttft_max_ms), rounded(p.decode_tps)]),
        csv_url=csv_url,
        note=SPEED_NOTE,
    )  # fmt: skip


def memory_chart(seen: Sequence[Point], csv_url: str) -> Chart | None:
    here = [point for point in seen if point.rss_after_bytes is not None]
    if not here:
        return None
    unit, name = bytes_unit(max(p.rss_peak_bytes or p.rss_after_bytes or 0 for p in here))
    few = thinned(here)
    x = times(few)
    traces = [
        line("After the cycle", [], [scaled(p.rss_after_bytes, unit) for p in few]).update(x=x),
        line(
            "Peak in the cycle", [], [scaled(p.rss_peak_bytes, unit) for p in few], series=2,
            dash="dot",
        ).update(x=x),
    ]  # fmt: skip
    restarts = restarted(here)
    if restarts:
        level = [scaled(p.rss_after_bytes, unit) for p in restarts]
        mark = points("Server restarted", [], level, series=5, symbol="x")
        traces.append(mark.update(x=times(restarts)))
    first, last = here[0].rss_after_bytes or 0, here[-1].rss_after_bytes or 0
    again = f" {len(restarts)} restarts of the server." if restarts else ""
    return Chart(
        key="memory",
        title="Memory after each cycle",
        sentence=(
            f"From {first / unit:,.2f} to {last / unit:,.2f} {name} over {len(here):,} cycles."
            f"{again}"
        ),
        figure=dated(build(
            traces, x_title="time (UTC)", axes=[Axis(name, from_zero=False)], height=320
        )),
        table=table(here, [f"After {name}", f"Peak {name}"],
                    lambda p: [rounded(scaled(p.rss_after_bytes, unit), 3),
                               rounded(scaled(p.rss_peak_bytes, unit), 3)]),
        csv_url=csv_url,
        note=MEMORY_NOTE,
    )  # fmt: skip


def queue_chart(seen: Sequence[Point], csv_url: str) -> Chart | None:
    here = [point for point in seen if point.queued_max is not None]
    if not any(point.queued_max for point in here):
        return None
    few = thinned(here)
    trace = line("Longest queue of the cycle", [], [p.queued_max for p in few]).update(
        x=times(few)
    )
    most = max(p.queued_max or 0 for p in here)
    return Chart(
        key="queue",
        title="Queue depth",
        sentence=f"Up to {most} requests waited at once.",
        figure=dated(build([trace], x_title="time (UTC)", axes=[Axis("requests")], height=240)),
        table=table(here, ["Waiting"], lambda p: [p.queued_max]),
        csv_url=csv_url,
        note="Server-reported, looked at every 2 s.",
    )


# --- parts ---


def thinned(seen: Sequence[Point]) -> list[Point]:
    """Few enough to draw: of each stretch the slowest, and all that were no clean pass."""
    if len(seen) <= MOST_POINTS:
        return list(seen)
    step = -(-len(seen) // MOST_POINTS)
    kept = {
        max(seen[i : i + step], key=lambda p: (p.ttft_max_ms or 0, p.rss_after_bytes or 0)).number
        for i in range(0, len(seen), step)
    }
    return [p for p in seen if p.number in kept or p.outcome != "clean_pass"]


def changed(
    seen: Sequence[Point], value: Callable[[Point], float | None]
) -> tuple[Change | None, datetime | None]:
    """The change of level, and when."""
    pairs = [(point.at, found) for point in seen if (found := value(point)) is not None]
    change = change_point([found for _, found in pairs])
    return change, (pairs[change.index][0] if change else None)


def told(name: str, unit: str, change: Change | None, at: datetime | None) -> str:
    if change is None or at is None:
        return ""
    percent = f" ({change.percent:+.0f} %)" if change.percent is not None else ""
    return (
        f"{name} went from {change.before:,.1f} to {change.after:,.1f} {unit}{percent} at "
        f"{at:%Y-%m-%d %H:%M} UTC (n={change.n:,}, p={change.p_value:.1g})."
    )


def change_mark(name: str, change: Change, at: datetime | None, axis: str) -> Any:
    mark = points(f"{name} changed", [], [change.after], series=6, symbol="diamond", yaxis=axis)
    return mark.update(x=[stamp(at)] if at else [])


def restarted(seen: Sequence[Point]) -> list[Point]:
    """Cycles that found another server process than the one before."""
    found, before = [], None
    for point in seen:
        now = point.server_started_at
        if now is not None:
            if before is not None and abs(now - before) >= 1:
                found.append(point)
            before = now
    return found


def dated(figure: dict[str, Any]) -> dict[str, Any]:
    figure["layout"]["xaxis"]["type"] = "date"
    return figure


def times(seen: Sequence[Point]) -> list[str]:
    return [stamp(point.at) for point in seen]


def stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def scaled(value: int | None, unit: float) -> float | None:
    return None if value is None else value / unit


def rounded(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)


def table(
    seen: Sequence[Point], columns: list[str], values: Callable[[Point], list[Any]]
) -> Table:
    """The newest first; the CSV has what is drawn."""
    rows = [[stamp(point.at), *values(point)] for point in reversed(seen[-200:])]
    return Table(["Cycle (UTC)", *columns], rows)
