"""The run of one cell: its suite, its plan, its row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from catalog.models import Endpoint, Revision
from runs.engine.checks.pooling_load import DEFAULT_ROUNDS
from runs.engine.plan import Deadlines
from runs.launch.models import Launch
from runs.models import Run, Suite
from runs.planning import build_plan
from runs.services import kept_suite, store_run
from runs.sweeps.figures import CHECK_KEYS
from runs.sweeps.models import Cache, Sweep, SweepCell, Workload

REST_S = 2.0  # at the end of a cell: what memory stays is told when nothing is asked


@dataclass(frozen=True, slots=True)
class Served:
    """What a group of cells is measured against."""

    revision: Revision
    endpoint: Endpoint
    launch: Launch | None = None


def checks_of(cell: SweepCell) -> list[dict[str, Any]]:
    workload = Workload(cell.sweep.workload)
    params: dict[str, Any] = {"clients": cell.client_concurrency}
    params |= {"rest_s": REST_S} if workload is Workload.CHAT else {"rounds": DEFAULT_ROUNDS}
    if cell.prompt_tokens:
        params["tokens"] = cell.prompt_tokens
    if cell.cache == Cache.REPEAT:
        params["repeat"] = 1
    return [{"key": CHECK_KEYS[workload], "params": params}]


def suite_of(cell: SweepCell) -> Suite:
    """One for each combination of parameters, so that equal cells have equal contracts."""
    size = cell.prompt_tokens or "short"
    key = f"sweep-{cell.sweep.workload}-{cell.client_concurrency}x{size}-{cell.cache}"
    return kept_suite(key, f"Sweep cell, {said(cell)}", checks_of(cell))


def warm_up_suite(sweep: Sweep, requests: int) -> Suite:
    if sweep.workload == Workload.CHAT:
        checks: list[dict[str, Any]] = [{"key": "marker", "params": {}}] * requests
    else:
        params = {"clients": 1, "rounds": requests}
        checks = [{"key": CHECK_KEYS[Workload(sweep.workload)], "params": params}]
    key = f"sweep-warm-up-{sweep.workload}-{requests}"
    return kept_suite(key, f"Warm-up of a sweep, {requests}", checks)


def said(cell: SweepCell) -> str:
    """ "4 clients, 2,048 tokens, fresh"."""
    clients = f"{cell.client_concurrency} client{'s' * (cell.client_concurrency > 1)}"
    size = f"{cell.prompt_tokens:,} tokens" if cell.prompt_tokens else "short"
    return f"{clients}, {size}, {cell.cache}"


def store_cell_run(cell: SweepCell, served: Served) -> Run:
    place = f"p{cell.runtime_parallel}, " if cell.runtime_parallel else ""
    note = f"Sweep #{cell.sweep_id}, cell {cell.position + 1}: {place}{said(cell)}"
    return store(cell.sweep, served, suite_of(cell), note)


def store_warm_up(sweep: Sweep, served: Served, requests: int) -> Run:
    note = f"Sweep #{sweep.pk}, warm-up, counted nowhere"
    return store(sweep, served, warm_up_suite(sweep, requests), note)


def store(sweep: Sweep, served: Served, suite: Suite, note: str) -> Run:
    """Queued as if it had been rung: the sweep's own worker executes it at once."""
    plan = build_plan(
        deployment=sweep.deployment,
        revision=served.revision,
        endpoint=served.endpoint,
        suite=suite,
        guards=sweep.guards,
    )
    limit_s = float(sweep.cell_timeout_s)
    deadlines = Deadlines(prefill_s=limit_s, idle_s=limit_s, total_s=limit_s)
    return store_run(
        deployment=sweep.deployment,
        revision=served.revision,
        endpoint=served.endpoint,
        suite=suite,
        plan=replace(plan, deadlines=deadlines),
        # By name only: whoever waits for the sweep is not to be told of every cell.
        requested_by_name=sweep.requested_by_name,
        note=note[:300],
        rung_at=timezone.now(),
    )
