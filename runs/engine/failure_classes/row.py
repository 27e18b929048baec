"""One row of the table, and how a module writes its rows."""

from __future__ import annotations

from dataclasses import dataclass

from runs.engine.outcomes import Outcome

FAIL, DEGRADED, INCONCLUSIVE = Outcome.FAIL, Outcome.DEGRADED, Outcome.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Words for people; `outcome` is the default of the class."""

    key: str
    group: str
    outcome: Outcome
    title: str
    meaning: str
    causes: str
    next_step: str


def group(name: str, *rows: tuple[str, Outcome, str, str, str, str]) -> list[FailureClass]:
    """Rows are (key, outcome, title, meaning, causes, next step)."""
    return [FailureClass(row[0], name, *row[1:]) for row in rows]
