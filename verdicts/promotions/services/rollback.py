"""Taking a promotion back: quick, by one person, and recorded like any other decision."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from people.access import Action, require
from people.models import User
from verdicts.models import Verdict, VerdictState
from verdicts.policies.models import Role
from verdicts.policies.roles import role_named
from verdicts.promotions import telling
from verdicts.promotions.models import PrimarySlot, PromotionRequest, RequestState
from verdicts.promotions.refusals import PromotionRefused
from verdicts.promotions.services.giving import give, latest, step_down
from verdicts.promotions.slots import set_primary, slot_for


@transaction.atomic
def roll_back(*, actor: User, request: PromotionRequest, comment: str = "") -> Verdict | None:
    """Restore the primary from before this promotion; None when there was none.

    Raises PermissionDenied, PromotionRefused when another promotion is in force or the former
    primary may not be restored, Superseded.
    """
    require(actor, Action.DECIDE)
    role, now = Role(request.role), timezone.now()
    slot = slot_for(role, for_change=True)
    rows = PromotionRequest.objects.select_related("deployment", "given__former__deployment")
    held = rows.get(pk=request.pk)
    former = _former(held, slot)
    said = f"Rolled back: {comment.strip()}" if comment.strip() else "Rolled back."
    restored = _restore(actor, held, former, said, now) if former else None
    _step_down(actor, held, restored, said, now)
    set_primary(slot, verdict=restored, promotion=held.replaced)
    PromotionRequest.objects.filter(pk=held.pk).update(
        state=RequestState.ROLLED_BACK, explanation=said
    )
    held.refresh_from_db()
    telling.rolled_back(held, restored, actor)
    return restored


def why_no_rollback(request: PromotionRequest, slot: PrimarySlot) -> str:
    """Why this promotion cannot be taken back now; empty when it can."""
    if slot.promotion_id != request.pk or request.state != RequestState.APPROVED:
        return "Only the promotion in force can be rolled back."
    former = request.given.former if request.given else None
    if former is None or former.deployment_id == request.deployment_id:
        return ""
    holds = latest(former.deployment)
    if holds is None:
        return ""
    if former.deployment.is_archived or holds.state in ("blocked", "rejected"):
        state = "archived" if former.deployment.is_archived else holds.state
        return f"{former.deployment} is {state} by now. Reopen it first, or retire the primary."
    if holds.state == VerdictState.PRIMARY and role_named(holds.role) != request.role:
        return f"{former.deployment} is primary for {holds.role} by now."
    return ""


def _former(request: PromotionRequest, slot: PrimarySlot) -> Verdict | None:
    if why := why_no_rollback(request, slot):
        raise PromotionRefused(why)
    return request.given.former if request.given else None


def _restore(
    actor: User, request: PromotionRequest, former: Verdict, reason: str, now: datetime
) -> Verdict:
    return give(
        actor=actor,
        deployment=former.deployment,
        revision=former.revision,
        state=VerdictState.PRIMARY,
        role=former.role,
        label="restored by rollback",
        reason=reason,
        former=request.given,
        now=now,
    )


def _step_down(
    actor: User, request: PromotionRequest, restored: Verdict | None, reason: str, now: datetime
) -> None:
    """What was promoted is a candidate again, unless it was blocked or rejected meanwhile."""
    holds = latest(request.deployment)
    if holds is not None and holds.state == VerdictState.PRIMARY and holds != restored:
        step_down(actor=actor, verdict=holds, successor=restored, reason=reason, now=now)
