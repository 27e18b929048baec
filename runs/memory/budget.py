"""Limits of a run's memory, from the revision's own guards or the size of its host."""

from __future__ import annotations

from typing import Any

from catalog.models import Host, Revision
from runs.engine.guards import GIB, Limits

# Keys of `Revision.guards`.
MODEL_GIB, GUARD_PCT, HOT_CACHE_GIB = (
    "model_memory_budget_gib",
    "process_memory_guard_pct",
    "hot_cache_gib",
)
PROCESS_GIB, FLOOR_GIB, GROWTH_MIB_S = (
    "process_limit_gib",
    "available_floor_gib",
    "growth_limit_mib_per_s",
)


def limits_for(revision: Revision | None, host: Host, **typed: float | None) -> Limits:
    """The guard of a run. What is `typed` in wins; what nobody said is left to the host's size.

    Granted are the smaller of: model budget and hot cache together; a share of the host.
    """
    guards = {**(revision.guards if revision else {}), **_given(typed)}
    process, origin = _process_limit(guards, host.memory_bytes)
    if typed.get(PROCESS_GIB):
        origin = "typed in for this run"
    limits = Limits(
        process_bytes=process,
        available_floor_bytes=_scaled(guards.get(FLOOR_GIB), GIB),
        growth_bytes_per_s=_scaled(guards.get(GROWTH_MIB_S), 1024**2),
        origin=origin,
    )
    return limits.resolved(host.memory_bytes)


def _process_limit(guards: dict[str, Any], total: int | None) -> tuple[int | None, str]:
    if explicit := _scaled(guards.get(PROCESS_GIB), GIB):
        return explicit, "the limit in its configuration"
    granted = []
    if model := _scaled(guards.get(MODEL_GIB), GIB):
        cache = _scaled(guards.get(HOT_CACHE_GIB), GIB) or 0
        words = "model budget and hot cache" if cache else "model budget"
        granted.append((model + cache, f"{words} of its configuration"))
    share = _number(guards.get(GUARD_PCT))
    if share and total:
        granted.append((round(total * share / 100), f"{share:g} % of the host's memory"))
    return min(granted, default=(None, ""))


def _given(typed: dict[str, float | None]) -> dict[str, float]:
    return {key: value for key, value in typed.items() if value is not None}


def _scaled(value: Any, unit: int) -> int | None:
    number = _number(value)
    return None if number is None else round(number * unit)


def _number(value: Any) -> float | None:
    """A positive number out of a free-form configuration."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and value > 0 else None
