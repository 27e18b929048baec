"""Telling in time that evidence which somebody relies on is about to be too old."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.urls import reverse

from catalog.models import Deployment
from verdicts.ledger.chain import digest
from verdicts.notifications.models import Kind
from verdicts.notifications.services import publish
from verdicts.policies.evaluation import GateResult
from verdicts.policies.models import Role
from verdicts.promotions import telling
from verdicts.promotions.evaluating import standing_or_why
from verdicts.promotions.models import UNDECIDED, PrimarySlot, PromotionRequest

AHEAD = timedelta(days=2)


def warn_of_staleness(now: datetime) -> int:
    """Once for each gate and its evidence. Gives how many were told."""
    return sum(
        tell_of(deployment, role, gate)
        for deployment, role in relied_on()
        for gate in going_stale(deployment, role, now)
    )


def relied_on() -> Iterator[tuple[Deployment, Role]]:
    """What was made primary here, and what waits for a decision."""
    slots = PrimarySlot.objects.exclude(verdict=None)
    for slot in slots.select_related("verdict__deployment__artifact"):
        if slot.verdict:
            yield slot.verdict.deployment, Role(slot.role)
    asked = PromotionRequest.objects.filter(state__in=UNDECIDED)
    for request in asked.select_related("deployment__artifact"):
        yield request.deployment, Role(request.role)


def going_stale(deployment: Deployment, role: Role, now: datetime) -> list[GateResult]:
    """Gates that pass now and would not any more soon, with nothing measured anew."""
    today, _ = standing_or_why(deployment, role, at=now)
    later, _ = standing_or_why(deployment, role, at=now + AHEAD)
    if today is None or later is None:
        return []
    passing = {gate.key: gate for gate in today.counting if gate.state == "pass"}
    return [
        passing[gate.key]
        for gate in later.counting
        if gate.state == "stale" and gate.key in passing
    ]


def tell_of(deployment: Deployment, role: Role, gate: GateResult) -> bool:
    evidence = digest([str(one) for one in gate.evidence])[:16]
    told = publish(
        kind=Kind.EVIDENCE_STALE,
        key=f"{deployment.pk}:{role}:{gate.key}:{evidence}",
        title=f"About to go stale: {gate.title} of {deployment}",
        text=f"Measure it again within {AHEAD.days} days, or {role.label} loses this gate. "
        f"{gate.sentence}",
        path=reverse("deployment", args=[deployment.slug]),
        deployment=deployment,
        people=telling.deciders(),
    )
    return told is not None
