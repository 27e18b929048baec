"""Outcomes and failure classes: stable identifiers, and what each means to a person."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """Of a request, a check, a run. Only a clean pass may become evidence."""

    CLEAN_PASS = "clean_pass"
    DEGRADED = "degraded"
    INCONCLUSIVE = "inconclusive"
    FAIL = "fail"


# The worst part decides the whole.
SEVERITY = {
    Outcome.CLEAN_PASS: 0,
    Outcome.DEGRADED: 1,
    Outcome.INCONCLUSIVE: 2,
    Outcome.FAIL: 3,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was seen. `at_ms` orders causes in time (ms since the request was sent)."""

    failure_class: str
    explanation: str
    at_ms: float | None = None
    outcome: Outcome | None = None  # None: the default of the class
    excerpt: str = ""  # bounded, redacted raw text around the fault
