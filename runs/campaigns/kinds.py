"""What each kind of campaign has to last and to hold, and what a rehearsal makes of it."""

from __future__ import annotations

from dataclasses import replace

from runs.campaigns.models import Kind
from runs.campaigns.standing import Terms

HOUR_S = 3600
DAY_S = 24 * HOUR_S
MIB = 2**20
REHEARSAL_CYCLES = 20
SHORTEST_CYCLE_S = 10

TERMS = {
    Kind.CANARY: Terms(
        duration_s=2 * HOUR_S,
        required_s=2 * HOUR_S,
        cycle_s=120,
        min_coverage=0.95,
        failure_budget=1,
        max_consecutive=1,
        max_drift_bytes=2048 * MIB,
        max_gap_s=600,
    ),
    Kind.GATE: Terms(
        duration_s=DAY_S,
        required_s=DAY_S,
        cycle_s=300,
        min_coverage=0.98,
        failure_budget=3,
        max_consecutive=2,
        max_drift_bytes=4096 * MIB,
        max_gap_s=1800,
        min_completed=1000,
    ),
    Kind.SOAK: Terms(
        duration_s=7 * DAY_S,
        required_s=7 * DAY_S,
        cycle_s=600,
        min_coverage=0.99,
        failure_budget=5,
        max_consecutive=2,
        max_drift_bytes=4096 * MIB,
        max_gap_s=HOUR_S,
    ),
}


def terms_for(kind: Kind, *, rehearsal_s: int | None = None, cycle_s: int | None = None) -> Terms:
    """The terms of the kind; with `rehearsal_s` seconds a rehearsal of them, and so marked.

    Raises ValueError with a sentence when the times do not fit together.
    """
    full = TERMS[kind]
    if rehearsal_s is None:
        return with_cycle(full, cycle_s or full.cycle_s)
    if rehearsal_s >= full.required_s:
        raise ValueError(
            f"A rehearsal is shorter than the {full.required_s / HOUR_S:g} h of the real one."
        )
    rehearsal = replace(full, duration_s=rehearsal_s, min_completed=0)
    return with_cycle(rehearsal, cycle_s or max(SHORTEST_CYCLE_S, rehearsal_s // REHEARSAL_CYCLES))


def with_cycle(terms: Terms, cycle_s: int) -> Terms:
    """Never fewer looks an hour than the kind has."""
    if not SHORTEST_CYCLE_S <= cycle_s <= terms.cycle_s:
        raise ValueError(
            f"A cycle takes {SHORTEST_CYCLE_S} to {terms.cycle_s} s here, not {cycle_s} s."
        )
    if terms.duration_s < 2 * cycle_s:
        raise ValueError(
            f"{terms.duration_s} s cannot hold two cycles of {cycle_s} s: that proves nothing."
        )
    return replace(terms, cycle_s=cycle_s)
