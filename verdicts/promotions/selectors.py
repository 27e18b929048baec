"""Reads: what waits, what was decided, and who is primary for each role."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import QuerySet

from catalog.models import Deployment
from people.access import Action, may
from people.models import User
from verdicts.models import Verdict
from verdicts.policies.models import Role
from verdicts.promotions.evaluating import Standing, standing_or_why
from verdicts.promotions.models import (
    UNDECIDED,
    Decision,
    DecisionKind,
    EvaluationRecord,
    PromotionRequest,
    RequestState,
)
from verdicts.promotions.services.rollback import why_no_rollback
from verdicts.promotions.slots import primaries_for, slot_for

ENDS = [choice for choice in RequestState.choices if choice[0] not in UNDECIDED]


@dataclass(frozen=True, slots=True)
class Waiting:
    """An undecided request: what it lacks, and what it would retire."""

    request: PromotionRequest
    standing: Standing | None
    problem: str
    given: int
    retires: list[Verdict]

    @property
    def needed(self) -> int:
        return self.standing.approvals_needed if self.standing else 1

    @property
    def lacks(self) -> int:
        return max(self.needed - self.given, 0)


@dataclass(frozen=True, slots=True)
class Approval:
    """A decision, and whether it counts for what is reviewed now."""

    decision: Decision
    counts: bool
    is_stale: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored evaluation and what it was stored for."""

    title: str
    record: EvaluationRecord


def requests() -> QuerySet[PromotionRequest]:
    return PromotionRequest.objects.select_related(
        "deployment__artifact", "deployment__runtime", "deployment__host", "revision",
        "requester", "evaluation", "given__former__deployment__artifact",
    )  # fmt: skip


def waiting(*, at: datetime) -> list[Waiting]:
    """Every undecided request, the one that expires first on top."""
    rows = requests().filter(state__in=UNDECIDED).order_by("expires_at")
    return [_waiting(row, at) for row in rows]


def _waiting(request: PromotionRequest, at: datetime) -> Waiting:
    role = Role(request.role)
    standing, problem = standing_or_why(request.deployment, role, at=at)
    counting = request.decisions.filter(
        kind=DecisionKind.APPROVE, evaluation__digest=standing.digest if standing else ""
    )
    given, retires = counting.count(), would_retire(role, request.deployment)
    return Waiting(request, standing, problem, given, retires)


def to_decide_by(person: User, rows: Iterable[Waiting]) -> list[Waiting]:
    """Those that this person may decide and did not ask for."""
    if not may(person, Action.DECIDE):
        return []
    alone = settings.SINGLE_PERSON_MODE
    return [row for row in rows if alone or row.request.requester_id != person.pk]


def would_retire(role: Role, deployment: Deployment) -> list[Verdict]:
    """The primaries whose place it would take."""
    return [v for v in primaries_for(role) if v.deployment_id != deployment.pk]


def decided(*, role: str = "", state: str = "") -> QuerySet[PromotionRequest]:
    """What is over, newest decision first."""
    rows = requests().exclude(state__in=UNDECIDED)
    if role in Role.values:
        rows = rows.filter(role=role)
    if state in dict(ENDS):
        rows = rows.filter(state=state)
    return rows.order_by("-decided_at", "-pk")


def primaries() -> list[tuple[Role, list[Verdict]]]:
    """Who is primary for each role; nobody where the list is empty."""
    return [(role, primaries_for(role)) for role in Role]


def approvals_of(request: PromotionRequest, digest: str) -> list[Approval]:
    """All decisions, each approval with whether it is for what there is now."""
    decisions = request.decisions.select_related("evaluation", "person")
    return [
        Approval(
            decision,
            counts=decision.kind == "approve" and decision.evaluation.digest == digest,
            is_stale=decision.kind == "approve"
            and request.is_undecided
            and decision.evaluation.digest != digest,
        )
        for decision in decisions
    ]


def outcome_of(request: PromotionRequest) -> dict[str, Any]:
    """What the page of a decided request shows: decisions, and whether it can be taken back."""
    slot = slot_for(Role(request.role))
    in_force = slot.promotion_id == request.pk and request.state == RequestState.APPROVED
    return {
        "approvals": approvals_of(request, ""),
        "kept": evaluation_kept(request),
        "is_in_force": in_force,
        "why_no_rollback": why_no_rollback(request, slot) if in_force else "",
        "former": request.given.former if request.given else None,
    }


def evaluation_kept(request: PromotionRequest) -> Kept:
    """What the last decision was made on; without one, what it was asked on."""
    last = request.decisions.exclude(kind=DecisionKind.ANSWER).select_related("evaluation").last()
    if last is None:
        return Kept("Gates when it was asked", request.evaluation)
    return Kept("Gates as they were decided on", last.evaluation)


def said_after(request: PromotionRequest) -> str:
    """What a decision led to."""
    if request.state == RequestState.APPROVED:
        return f"Approved: {request.deployment} is primary for {request.get_role_display()}."
    if request.is_undecided and request.state == RequestState.OPEN:
        return "Recorded. It needs another approval, by another person."
    return f"Recorded: {request.get_state_display()}."


def encoded(**chosen: str) -> str:
    """The filters as an address, ending with & unless there is none."""
    text = urlencode({name: value for name, value in chosen.items() if value})
    return f"{text}&" if text else ""


def verdict_history(deployment: Deployment) -> QuerySet[Verdict]:
    """Newest first, each with what it was given on and what took whose place."""
    return deployment.verdicts.select_related(
        "revision",
        "former__deployment__artifact",
        "successor__deployment__artifact",
        "promotion__evaluation",
    )
