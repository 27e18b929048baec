"""What one cell found, in one shape for pages, charts, sentences and the API.

Client-measured unless `origins` says otherwise. What was not measured is None, never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any, TypedDict

import numpy as np

from catalog.models import Origin
from runs.memory.growth import SETTLE_MS, end_of, highest, level
from runs.memory.reading import read_series
from runs.models import Outcome, Run, RunRequest
from runs.sweeps.models import SweepCell, Workload

RSS = "rss_bytes"
COMPLETED = (Outcome.CLEAN_PASS, Outcome.DEGRADED)
CHECK_KEYS = {
    Workload.CHAT: "concurrency",
    Workload.EMBEDDINGS: "embeddings",
    Workload.RERANK: "rerank",
}
ORIGINS = {
    "ttft_ms": Origin.CLIENT,
    "end_ms": Origin.CLIENT,
    "aggregate_tps": Origin.CLIENT,
    "per_request_tps": Origin.CLIENT,
    "requests_per_s": Origin.CLIENT,
    "peak_rss_bytes": Origin.CLIENT,
    "retained_bytes": Origin.CLIENT,
    "prompt_tokens": Origin.SERVER,
}


class Spread(TypedDict):
    """Of `n` completed requests of one cell, in ms."""

    n: int
    mean: float
    p50: float
    p95: float
    max: float


class CellFigures(TypedDict):
    """Stored on `SweepCell.figures`; empty ({}) for a cell without a run."""

    ttft_ms: Spread | None  # None for embeddings and rerank, which stream nothing
    end_ms: Spread | None
    completed: int
    asked: int
    aggregate_tps: float | None  # completion tokens of the cell / time that the group took
    per_request_tps: float | None  # median decode rate of its requests, where measurable
    requests_per_s: float | None  # completed requests / time that the groups were open
    errors: dict[str, int]  # requests that did not complete, by failure class
    peak_rss_bytes: int | None  # of the server's process tree while the cell ran
    retained_bytes: int | None  # after a rest, less before
    prompt_tokens: int | None  # median, as the server counted them
    concurrency_achieved: int | None
    client_limited: bool  # we did not keep up: no evidence
    origins: dict[str, str]  # figure name -> catalog.models.Origin value


def figures_of(cell: SweepCell, run: Run) -> CellFigures:
    """From a finished run. Fresh requests that only prepared a repeat are not counted."""
    key = CHECK_KEYS[Workload(cell.sweep.workload)]
    everything = list(run.requests.order_by("started_offset_ms", "index"))
    group = [
        r
        for r in everything
        if r.check_key == key and r.cache == cell.cache and r.label != "calibration"
    ]
    done = [r for r in group if r.outcome in COMPLETED]
    told = check_figures(run, key)
    peak, retained = memory_of(run, everything)
    return CellFigures(
        ttft_ms=spread(r.ttft_ms for r in done),
        end_ms=spread(r.end_ms for r in done),
        completed=len(done),
        asked=asked_of(run, cell, key),
        aggregate_tps=told.get("group_tps"),
        per_request_tps=middle(r.decode_tps for r in done),
        requests_per_s=told.get("requests_per_s") or rate(done),
        errors=dict(Counter(r.failure_class or r.outcome for r in group if r not in done)),
        peak_rss_bytes=peak,
        retained_bytes=retained,
        prompt_tokens=whole(middle(r.prompt_tokens for r in done)),
        concurrency_achieved=told.get("clients_achieved"),
        client_limited=bool(told.get("client_limited")),
        origins={name: str(origin) for name, origin in ORIGINS.items()},
    )


def check_figures(run: Run, key: str) -> dict[str, Any]:
    checks: list[dict[str, Any]] = run.report.get("checks", [])
    found = next((check for check in checks if check["key"] == key), {})
    return dict(found.get("figures") or {})


def asked_of(run: Run, cell: SweepCell, key: str) -> int:
    """What the plan asks for: requests that were never sent did not complete either."""
    params = next(c["params"] for c in run.plan["checks"] if c["key"] == key)
    return cell.client_concurrency * int(params.get("rounds") or 1)


def spread(values: Iterable[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    p50, p95 = np.percentile(known, [50, 95])
    return Spread(
        n=len(known),
        mean=round(float(np.mean(known)), 3),
        p50=round(float(p50), 3),
        p95=round(float(p95), 3),
        max=round(max(known), 3),
    )


def middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(median(known), 3) if known else None


def whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def rate(done: list[RunRequest]) -> float | None:
    """Completed requests a second, from the first that was sent to the last that ended."""
    ends = [r.started_offset_ms + r.end_ms for r in done if r.end_ms is not None]
    if not ends:
        return None
    open_ms = max(ends) - min(r.started_offset_ms for r in done)
    return round(len(done) / open_ms * 1000, 3) if open_ms > 0 else None


def memory_of(run: Run, requests: list[RunRequest]) -> tuple[int | None, int | None]:
    """Peak, and what stayed after the rest at the end. None where the process was not seen."""
    series = read_series(run.pk, RSS, points=None)
    if not series or not requests:
        return None, None
    before = level(series, 0.0, requests[0].started_offset_ms)
    after = level(series, max(map(end_of, requests)) + SETTLE_MS, float("inf"))
    retained = None if before is None or after is None else after - before
    return highest(series, 0.0, float("inf")), retained
