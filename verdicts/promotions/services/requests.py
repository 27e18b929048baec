"""Asking for a promotion, answering questions, taking it back, and running out of time."""

from __future__ import annotations

from datetime import datetime

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from catalog.models import Deployment
from people.access import Action, require, roles_of
from people.access import Role as PersonRole
from people.models import User
from verdicts.policies.models import Role
from verdicts.promotions import telling
from verdicts.promotions.evaluating import stand
from verdicts.promotions.keeping import keep
from verdicts.promotions.models import (
    UNDECIDED,
    Decision,
    DecisionKind,
    PromotionRequest,
    RequestState,
)
from verdicts.promotions.refusals import PromotionRefused
from verdicts.promotions.rules import refuse_unless_promotable
from verdicts.promotions.slots import slot_for


@transaction.atomic
def request_promotion(
    *, actor: User, deployment: Deployment, role: str, reason: str, planned_route: str = ""
) -> PromotionRequest:
    """Ask that the active revision becomes primary for a role, on the evaluation of now.

    Raises PermissionDenied, ValidationError, and PromotionRefused naming what is missing.
    """
    require(actor, Action.REQUEST_PROMOTION)
    wanted, said = known_role(role), needed("reason", reason)
    slot_for(wanted, for_change=True)
    route = planned_route.strip() or deployment.canonical_route
    now = timezone.now()
    standing = stand(deployment, wanted, at=now)
    refuse_unless_promotable(standing, route)
    if PromotionRequest.objects.filter(
        deployment=deployment, role=wanted, state__in=UNDECIDED
    ).exists():
        raise PromotionRefused(
            "There is an open request for this role already. Decide or withdraw that one first."
        )
    made = PromotionRequest.objects.create(
        deployment=deployment,
        revision=standing.revision,
        role=wanted,
        evaluation=keep(standing, now),
        reason=said,
        planned_route=route,
        requester=actor,
        requester_name=actor.get_username(),
        created_at=now,
        expires_at=now + standing.time_to_decide,
    )
    telling.requested(made)
    return made


@transaction.atomic
def answer(*, actor: User, request: PromotionRequest, comment: str) -> Decision:
    """The requester answers what was asked; the request is open again. Raises as above."""
    require(actor, Action.REQUEST_PROMOTION)
    said, now = needed("comment", comment), timezone.now()
    held = undecided(request, now)
    _refuse_strangers(actor, held, "answer")
    standing = stand(held.deployment, Role(held.role), at=now)
    decision = Decision.objects.create(
        request=held,
        person=actor,
        person_name=actor.get_username(),
        kind=DecisionKind.ANSWER,
        comment=said,
        evaluation=keep(standing, now),
        decided_at=now,
    )
    PromotionRequest.objects.filter(pk=held.pk).update(state=RequestState.OPEN)
    telling.answered(held, decision)
    return decision


@transaction.atomic
def withdraw(*, actor: User, request: PromotionRequest, comment: str = "") -> None:
    """Take a request back: the requester, or an admin. Raises PermissionDenied and refusals."""
    require(actor, Action.REQUEST_PROMOTION)
    held = undecided(request, timezone.now())
    _refuse_strangers(actor, held, "withdraw")
    end(held, RequestState.WITHDRAWN, comment.strip() or "Withdrawn.", by=actor)


def expire_due(now: datetime) -> int:
    """End what nobody decided in time, each in its role's turn. Gives how many."""
    due = PromotionRequest.objects.filter(state__in=UNDECIDED, expires_at__lte=now)
    for request in (found := list(due.select_related("deployment__artifact", "requester"))):
        with transaction.atomic():
            slot_for(Role(request.role), for_change=True)
            end(request, RequestState.EXPIRED, "Nobody decided it in time.")
    return len(found)


def end(
    request: PromotionRequest, state: RequestState, why: str, *, by: User | None = None
) -> None:
    """Close an undecided request without a promotion, and tell; one that is over stays."""
    changed = PromotionRequest.objects.filter(pk=request.pk, state__in=UNDECIDED).update(
        state=state, explanation=why, decided_at=timezone.now()
    )
    if changed:
        request.refresh_from_db()
        telling.ended(request, by)


def undecided(request: PromotionRequest, now: datetime) -> PromotionRequest:
    """The request as it is, its role's slot locked. Raises PromotionRefused when it is over."""
    slot_for(Role(request.role), for_change=True)
    held = PromotionRequest.objects.select_related(
        "deployment__artifact", "revision", "requester"
    ).get(pk=request.pk)
    if not held.is_undecided:
        why = f" {held.explanation}" if held.explanation else ""
        raise PromotionRefused(f"This request is {held.get_state_display().lower()}.{why}")
    if held.is_over(now):
        raise PromotionRefused("The time to decide this request is over. Request it again.")
    return held


def known_role(role: str) -> Role:
    """Raises ValidationError naming the roles that there are."""
    if role not in Role.values:
        raise ValidationError({"role": f"No such role. There are: {', '.join(Role.values)}."})
    return Role(role)


def needed(field: str, text: str) -> str:
    """What was typed. Raises ValidationError when it says nothing."""
    if not (said := text.strip()):
        raise ValidationError({field: "Say why, in a sentence: it is kept for good."})
    return said


def _refuse_strangers(actor: User, request: PromotionRequest, what: str) -> None:
    is_own = request.requester_id == actor.pk
    if not is_own and PersonRole.ADMIN not in roles_of(actor):
        raise PermissionDenied(f"Only {request.requester_name} or an admin may {what} it.")
