"""The time line: one mark for a slot, or for several where there is no room. Pure.

A mark shows the worst of what it stands for, so that no red one and no gap is ever lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from runs.campaigns.standing import CycleFact, Terms, slots_over

PLACES = 168
WORDS = {
    "fail": "failed",
    "gap": "gap",
    "degraded": "degraded",
    "clean": "clean",
    "running": "running",
    "open": "to come",
}
WORST = tuple(WORDS)  # worst first


@dataclass(frozen=True, slots=True)
class Mark:
    """Slots `first` to `last`; `state` is the worst of them."""

    state: str
    first: int
    last: int
    start: datetime
    end: datetime
    counts: dict[str, int]

    @property
    def words(self) -> str:
        """ "12 clean, 1 failed"."""
        told = [f"{count} {WORDS[state]}" for state, count in self.counts.items() if count]
        return ", ".join(told)


def state_of(fact: CycleFact | None, *, is_over: bool) -> str:
    if fact is not None and fact.is_running:
        return "running"
    if fact is None or not fact.covers:
        return "gap" if is_over else "open"
    if not fact.failed:
        return "clean"
    return "degraded" if fact.outcome == "degraded" else "fail"


def slot_states(terms: Terms, cycles: Iterable[CycleFact], elapsed_s: float) -> list[str]:
    """One state for each slot of the campaign."""
    known = {cycle.number: cycle for cycle in cycles if cycle.number < terms.slots}
    over = slots_over(terms, elapsed_s, known.values())
    states = [state_of(known.get(number), is_over=number < over) for number in range(terms.slots)]
    for cycle in known.values():
        for number in cycle.slots if cycle.covers else ():
            if number < terms.slots and not (number in known and known[number].covers):
                states[number] = state_of(cycle, is_over=True)
    return states


def marks(
    terms: Terms,
    started_at: datetime,
    states: Sequence[str],
    *,
    first: int = 0,
    last: int | None = None,
    places: int = PLACES,
) -> list[Mark]:
    """At most `places` marks for the slots `first` to `last` (all of them)."""
    end = len(states) if last is None else min(last + 1, len(states))
    first = max(0, min(first, end - 1))
    step = -(-(end - first) // places)
    found = []
    for begin in range(first, end, step):
        here = list(states[begin : min(begin + step, end)])
        counts = {state: here.count(state) for state in WORST}
        found.append(
            Mark(
                state=next(state for state in WORST if counts[state]),
                first=begin,
                last=begin + len(here) - 1,
                start=started_at + timedelta(seconds=begin * terms.cycle_s),
                end=started_at + timedelta(seconds=(begin + len(here)) * terms.cycle_s),
                counts=counts,
            )
        )
    return found
