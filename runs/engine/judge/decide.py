"""From findings to one outcome: the worst part decides, the first cause in time names it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runs.engine.failure_classes import FAILURE_CLASSES
from runs.engine.outcomes import SEVERITY, Finding, Outcome

Verdict = tuple[Outcome, str, str]


def default_outcome(failure_class: str) -> Outcome:
    """The outcome that a class has unless its finding says otherwise."""
    return FAILURE_CLASSES[failure_class].outcome


def outcome_of(finding: Finding) -> Outcome:
    return finding.outcome or default_outcome(finding.failure_class)


def in_time(findings: Sequence[Finding]) -> list[Finding]:
    """Earliest first; what has no moment comes last, in the order it was found."""
    return sorted(findings, key=lambda f: math.inf if f.at_ms is None else f.at_ms)


def decide(findings: Sequence[Finding]) -> Verdict:
    """(outcome, failure class, explanation); a clean pass has neither class nor explanation."""
    if not findings:
        return Outcome.CLEAN_PASS, "", ""
    level = max((outcome_of(f) for f in findings), key=SEVERITY.__getitem__)
    first = next(f for f in in_time(findings) if outcome_of(f) is level)
    return level, first.failure_class, first.explanation
