"""What classes and checks mean, in the engine's own words, for pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runs.engine.checks import CHECKS
from runs.engine.failure_classes import FAILURE_CLASSES, FailureClass
from runs.engine.plan import Plan


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """One line of the plan page."""

    title: str
    description: str
    requests: int
    params: dict[str, Any]


def explain(failure_class: str) -> FailureClass | None:
    """None for a clean pass, and for a class that a newer release knew."""
    return FAILURE_CLASSES.get(failure_class)


def describe_checks(plan: Plan) -> list[PlannedCheck]:
    """What the plan is going to send, check by check."""
    return [
        PlannedCheck(
            title=CHECKS[spec.key].title,
            description=CHECKS[spec.key].description,
            requests=CHECKS[spec.key].requests(spec.params),
            params=spec.params,
        )
        for spec in plan.checks
        if spec.key in CHECKS
    ]
