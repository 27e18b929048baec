"""How a campaign stands: coverage of real time, budget, stop rules. Pure: rows in, verdict out.

A cycle stands for the slot of time that it was due in. A slot is covered only by a cycle that
began in it and came to an end of its own, or by an earlier one that was still measuring in it; a
missed or interrupted one, a pause, a stopped machine or a clock that was set leaves its slot
uncovered. Nothing makes up for it: covered time
is added, never estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

OURS = ("interrupted", "cancelled", "probe_limit")  # says nothing about the server


@dataclass(frozen=True, slots=True)
class Terms:
    """What was agreed at the start. Times in seconds, memory in bytes."""

    duration_s: int
    required_s: int  # what the kind asks for; more than duration_s means rehearsal
    cycle_s: int
    min_coverage: float = 0.99
    failure_budget: int = 3  # cycles that may fail; one more ends the campaign
    max_consecutive: int = 2  # cycles that may fail in a row; one more ends it
    max_drift_bytes: int | None = None  # resident memory, last hour against first
    max_gap_s: int = 3600
    min_completed: int = 0  # requests, at the end

    @property
    def is_rehearsal(self) -> bool:
        return self.duration_s < self.required_s

    @property
    def slots(self) -> int:
        return -(-self.duration_s // self.cycle_s)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Terms:
        return cls(**stored)


@dataclass(frozen=True, slots=True)
class CycleFact:
    """What counts of one cycle. `number` is its slot; a missed one has no outcome."""

    number: int
    through: int | None = None  # the slot that it ended in, where that is a later one
    is_running: bool = False
    outcome: str = ""
    failure_class: str = ""
    explanation: str = ""
    requests: int = 0
    completed: int = 0
    rss_after_bytes: int | None = None

    @property
    def covers(self) -> bool:
        return bool(self.outcome) and self.failure_class not in OURS

    @property
    def slots(self) -> range:
        """That it covers."""
        return range(self.number, max(self.number, self.through or 0) + 1)

    @property
    def failed(self) -> bool:
        """Degraded counts too: it is no clean pass."""
        return self.covers and self.outcome != "clean_pass"


@dataclass(frozen=True, slots=True)
class Gap:
    """Uncovered time, from slot to slot."""

    first: int
    last: int
    start: datetime
    end: datetime

    @property
    def took_s(self) -> float:
        return (self.end - self.start).total_seconds()


@dataclass(frozen=True, slots=True)
class Standing:
    """`covered_s` is real time proven; `verdict` is empty while nothing is decided."""

    slots_due: int
    slots_covered: int
    elapsed_s: float
    covered_s: float
    remaining_s: float
    coverage: float | None
    gaps: tuple[Gap, ...]
    cycles_failed: int
    consecutive_failed: int
    budget_left: int
    requests: int
    completed: int
    drift_bytes: int | None
    verdict: str
    why: str

    @property
    def gap_s(self) -> float:
        return sum(gap.took_s for gap in self.gaps)

    @property
    def longest_gap_s(self) -> float:
        return max((gap.took_s for gap in self.gaps), default=0.0)


def standing(
    terms: Terms, *, started_at: datetime, cycles: Iterable[CycleFact], now: datetime
) -> Standing:
    """How the campaign stands at `now`. A slot counts as due when it is over."""
    known = {cycle.number: cycle for cycle in cycles if cycle.number < terms.slots}
    elapsed_s = max(0.0, (now - started_at).total_seconds())
    due = slots_over(terms, elapsed_s, known.values())
    ended = [known[n] for n in sorted(known) if known[n].covers]
    covered = {n for cycle in ended for n in cycle.slots if n < terms.slots}
    done = max(due, max(covered, default=-1) + 1)
    gaps = tuple(find_gaps(terms, started_at, covered, due))
    failed = sum(cycle.failed for cycle in ended)
    consecutive = failed_in_a_row(ended)
    drift = drift_bytes(ended, terms)
    verdict, why = decide(terms, due, len(covered), gaps, ended, drift)
    return Standing(
        slots_due=due,
        slots_covered=len(covered),
        elapsed_s=min(elapsed_s, terms.duration_s),
        covered_s=sum(slot_s(terms, n) for n in covered),
        remaining_s=max(0.0, terms.duration_s - elapsed_s),
        coverage=len(covered) / done if done else None,
        gaps=gaps,
        cycles_failed=failed,
        consecutive_failed=consecutive,
        budget_left=terms.failure_budget - failed,
        requests=sum(cycle.requests for cycle in ended),
        completed=sum(cycle.completed for cycle in ended),
        drift_bytes=drift,
        verdict=verdict,
        why=why,
    )


def slots_over(terms: Terms, elapsed_s: float, cycles: Iterable[CycleFact]) -> int:
    """Slots whose time is over and whose cycle, if it is still going on, is not waited for."""
    over = terms.slots
    if elapsed_s < terms.duration_s:
        over = int(elapsed_s // terms.cycle_s)
    return min((over, *(cycle.number for cycle in cycles if cycle.is_running)))


def slot_s(terms: Terms, number: int) -> float:
    """The last slot may be shorter than the others."""
    return min(terms.cycle_s, terms.duration_s - number * terms.cycle_s)


def find_gaps(terms: Terms, started_at: datetime, covered: set[int], due: int) -> Iterable[Gap]:
    first: int | None = None
    for number in range(due + 1):
        is_open = number < due and number not in covered
        if is_open and first is None:
            first = number
        elif not is_open and first is not None:
            start = started_at + timedelta(seconds=first * terms.cycle_s)
            end_s = min(number * terms.cycle_s, terms.duration_s)
            yield Gap(first, number - 1, start, started_at + timedelta(seconds=end_s))
            first = None


def failed_in_a_row(ended: Sequence[CycleFact]) -> int:
    """At the end of what there is."""
    count = 0
    for cycle in reversed(ended):
        if not cycle.failed:
            break
        count += 1
    return count


def most_failed_in_a_row(ended: Sequence[CycleFact]) -> int:
    most = count = 0
    for cycle in ended:
        count = count + 1 if cycle.failed else 0
        most = max(most, count)
    return most


def drift_bytes(ended: Sequence[CycleFact], terms: Terms) -> int | None:
    """Median resident memory after a cycle, the last tenth (or hour) against the first.

    None with fewer than ten readings: the first minutes of a server are no drift.
    """
    readings = [c.rss_after_bytes for c in ended if c.rss_after_bytes is not None]
    if len(readings) < 10:
        return None
    span = max(3, min(len(readings) // 10, 3600 // terms.cycle_s))
    return middle(readings[-span:]) - middle(readings[:span])


def middle(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2]


def decide(
    terms: Terms,
    due: int,
    covered: int,
    gaps: Sequence[Gap],
    ended: Sequence[CycleFact],
    drift: int | None,
) -> tuple[str, str]:
    """The verdict with its sentence. Failing needs no end of time, passing does."""
    if why := broken_rule(terms, gaps, ended, drift):
        return "failed", why
    if due < terms.slots:
        return "", ""
    completed = sum(cycle.completed for cycle in ended)
    if completed < terms.min_completed:
        return "failed", (
            f"{completed:,} requests were completed; {terms.min_completed:,} are needed."
        )
    failed = sum(cycle.failed for cycle in ended)
    return "passed", (
        f"{covered:,} of {terms.slots:,} cycles over {terms.duration_s / 3600:,.1f} h, "
        f"{failed} of them no clean pass (budget {terms.failure_budget}), "
        f"{completed:,} requests completed."
    )


def broken_rule(
    terms: Terms,
    gaps: Sequence[Gap],
    ended: Sequence[CycleFact],
    drift: int | None,
) -> str:
    """The sentence of the first stop rule that is broken, or nothing."""
    if changed := next((c for c in ended if c.failure_class == "identity_mismatch"), None):
        return f"Cycle {changed.number} met another model. {changed.explanation}".strip()
    in_a_row = most_failed_in_a_row(ended)
    if in_a_row > terms.max_consecutive:
        return f"{in_a_row} cycles failed one after the other; {terms.max_consecutive} may."
    failed = sum(cycle.failed for cycle in ended)
    if failed > terms.failure_budget:
        return f"{failed} cycles were no clean pass; the budget is {terms.failure_budget}."
    if drift is not None and terms.max_drift_bytes is not None and drift > terms.max_drift_bytes:
        return (
            f"Resident memory rose by {drift / 2**20:,.0f} MiB; "
            f"{terms.max_drift_bytes / 2**20:,.0f} MiB are allowed."
        )
    return coverage_lost(terms, gaps)


def coverage_lost(terms: Terms, gaps: Sequence[Gap]) -> str:
    """Why the coverage that was agreed can no longer be reached, or nothing."""
    longest = max(gaps, key=lambda gap: gap.took_s, default=None)
    if longest is not None and longest.took_s > terms.max_gap_s:
        return (
            f"A gap of {longest.took_s / 60:,.0f} min from {longest.start:%Y-%m-%d %H:%M} UTC; "
            f"{terms.max_gap_s / 60:,.0f} min are allowed at once."
        )
    uncovered = sum(gap.last - gap.first + 1 for gap in gaps)
    best = (terms.slots - uncovered) / terms.slots
    if best >= terms.min_coverage:
        return ""
    return (
        f"{uncovered} of {terms.slots} cycles are missing, so coverage can reach {best:.1%} at "
        f"most; {terms.min_coverage:.1%} are needed."
    )


def would_fail_now(terms: Terms, seen: Standing) -> list[str]:
    """What would fail it next, in sentences, the nearest first."""
    missed = sum(gap.last - gap.first + 1 for gap in seen.gaps)
    to_miss = int(terms.slots * (1 - terms.min_coverage)) - missed + 1
    in_a_row = terms.max_consecutive - seen.consecutive_failed + 1
    budget = seen.budget_left + 1
    silent_min = to_miss * terms.cycle_s / 60
    said = [
        (in_a_row, f"Cycles in a row without a clean pass: {in_a_row} more."),
        (budget, f"Cycles without a clean pass, whenever: {budget} more."),
        (to_miss, f"Cycles missed: {to_miss} more ({silent_min:,.0f} min without a record)."),
    ]
    sentences = [text for _, text in sorted(said)]
    if terms.max_drift_bytes is not None:
        left = terms.max_drift_bytes - (seen.drift_bytes or 0)
        sentences.append(f"Resident memory: {left / 2**20:,.0f} MiB more.")
    return [*sentences, "Another model, digest or version behind the name: at once."]
