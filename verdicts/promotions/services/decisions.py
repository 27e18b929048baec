"""Approving, rejecting and asking for more; the approval that completes makes the primary."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from people.access import Action, require
from people.models import User
from verdicts.models import Verdict, VerdictState
from verdicts.policies.models import Role
from verdicts.promotions import telling
from verdicts.promotions.evaluating import Standing, stand
from verdicts.promotions.keeping import keep
from verdicts.promotions.models import (
    UNDECIDED,
    Decision,
    DecisionKind,
    PrimarySlot,
    PromotionRequest,
    RequestState,
)
from verdicts.promotions.refusals import PromotionRefused, Stale
from verdicts.promotions.rules import refuse_unless_promotable
from verdicts.promotions.services.giving import give, step_down
from verdicts.promotions.services.requests import end, needed, undecided
from verdicts.promotions.slots import CHANGED, primaries_for, set_primary, slot_for

STALE = (
    "The evaluation changed since you read it, so this approval would be for something else. "
    "Nothing was done: read the page again, then decide. Earlier approvals must be given again."
)


@transaction.atomic
def decide(
    *,
    actor: User,
    request: PromotionRequest,
    kind: str,
    comment: str = "",
    digest: str = "",
    slot_version: int | None = None,
) -> Decision:
    """Approve, reject or ask for more.

    An approval names what was reviewed: the evaluation's `digest` and the `slot_version` of who
    is primary. Raises PermissionDenied (also to the requester), ValidationError, Stale when
    something changed since, Superseded, PromotionRefused.
    """
    require(actor, Action.DECIDE)
    if kind not in (DecisionKind.APPROVE, DecisionKind.REJECT, DecisionKind.ASK_MORE):
        raise ValidationError({"kind": "One of approve, reject, ask_more."})
    now = timezone.now()
    held = undecided(request, now)
    if held.requester_id == actor.pk and not settings.SINGLE_PERSON_MODE:
        raise PermissionDenied(
            "You asked for this promotion, so somebody else decides it. You may withdraw it."
        )
    if kind != DecisionKind.APPROVE:
        comment = needed("comment", comment)
    standing = stand(held.deployment, Role(held.role), at=now)
    slot = slot_for(Role(held.role))
    if kind == DecisionKind.APPROVE:
        _refuse_approval(actor, held, standing, slot, digest, slot_version)
    decision = _write(actor, held, DecisionKind(kind), comment.strip(), standing, now)
    _follow(actor, held, decision, standing, slot)
    return decision


def _refuse_approval(
    actor: User,
    request: PromotionRequest,
    standing: Standing,
    slot: PrimarySlot,
    digest: str,
    slot_version: int | None,
) -> None:
    if standing.revision != request.revision:
        raise Stale(
            f"This is for revision {request.revision.number}, but revision "
            f"{standing.revision.number} is active now. Withdraw it and request that one."
        )
    if digest != standing.digest:
        raise Stale(STALE)
    if slot_version != slot.version:
        raise Stale(CHANGED.format(role=standing.role.label))
    refuse_unless_promotable(standing, request.planned_route)
    if approvals(request, standing.digest).filter(person=actor).exists():
        raise PromotionRefused("You approved exactly this already. It needs somebody else.")


def approvals(request: PromotionRequest, digest: str) -> QuerySet[Decision]:
    """Those that count: given for exactly this evaluation."""
    return request.decisions.filter(kind=DecisionKind.APPROVE, evaluation__digest=digest)


def _write(
    actor: User,
    request: PromotionRequest,
    kind: DecisionKind,
    comment: str,
    standing: Standing,
    now: datetime,
) -> Decision:
    decision = Decision.objects.create(
        request=request,
        person=actor,
        person_name=actor.get_username(),
        kind=kind,
        comment=comment,
        evaluation=keep(standing, now),
        is_single_person=settings.SINGLE_PERSON_MODE,
        decided_at=now,
    )
    telling.decided(request, decision)
    return decision


def _follow(
    actor: User,
    request: PromotionRequest,
    decision: Decision,
    standing: Standing,
    slot: PrimarySlot,
) -> None:
    if decision.kind == DecisionKind.REJECT:
        end(request, RequestState.REJECTED, decision.comment, by=actor)
    elif decision.kind == DecisionKind.ASK_MORE:
        PromotionRequest.objects.filter(pk=request.pk).update(state=RequestState.NEEDS_MORE)
    elif approvals(request, standing.digest).count() >= standing.approvals_needed:
        promote(actor, request, standing, slot, decision.decided_at)


def promote(
    actor: User, request: PromotionRequest, standing: Standing, slot: PrimarySlot, now: datetime
) -> Verdict:
    """Primary from now on, the former one a candidate, other requests for the role superseded."""
    former = primaries_for(standing.role)
    given = give(
        actor=actor,
        deployment=request.deployment,
        revision=request.revision,
        state=VerdictState.PRIMARY,
        role=standing.role.label,
        label="promoted",
        reason=request.reason,
        former=former[0] if former else None,
        now=now,
    )
    why = f"{request.deployment} took its place."
    for verdict in former:
        if verdict.deployment_id != request.deployment_id:
            step_down(actor=actor, verdict=verdict, successor=given, reason=why, now=now)
    set_primary(slot, verdict=given, promotion=request)
    PromotionRequest.objects.filter(pk=request.pk).update(
        state=RequestState.APPROVED, given=given, replaced=slot.promotion, decided_at=now
    )
    request.refresh_from_db()
    telling.ended(request, actor)
    supersede_others(actor, request)
    return given


def supersede_others(actor: User, winner: PromotionRequest) -> None:
    """They were asked against another primary than there is now."""
    others = PromotionRequest.objects.filter(role=winner.role, state__in=UNDECIDED)
    why = f"{winner.deployment} became primary for {winner.get_role_display()}. Request it again."
    for other in others.exclude(pk=winner.pk).select_related("deployment__artifact", "requester"):
        end(other, RequestState.SUPERSEDED, why, by=actor)
