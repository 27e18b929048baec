"""Block, reject, reopen and retire: quick, by one person, each with a reason."""

from __future__ import annotations

from enum import StrEnum

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from catalog.models import Deployment
from people.access import Action, require
from people.models import User
from verdicts.models import Verdict, VerdictState
from verdicts.policies.roles import roles_for
from verdicts.promotions import telling
from verdicts.promotions.models import UNDECIDED, PrimarySlot, PromotionRequest, RequestState
from verdicts.promotions.refusals import PromotionRefused
from verdicts.promotions.services.giving import give, latest, step_down
from verdicts.promotions.services.requests import end, needed
from verdicts.promotions.slots import set_primary, slot_for


class Change(StrEnum):
    BLOCK = "block"
    REJECT = "reject"
    REOPEN = "reopen"
    RETIRE = "retire"


GIVES = {
    Change.BLOCK: VerdictState.BLOCKED,
    Change.REJECT: VerdictState.REJECTED,
    Change.REOPEN: VerdictState.CANDIDATE,
    Change.RETIRE: VerdictState.CANDIDATE,
}


def changes_for(state: str | None) -> tuple[Change, ...]:
    """What can be done from this verdict; None: unreviewed."""
    if state == VerdictState.PRIMARY:
        return (Change.RETIRE, Change.BLOCK, Change.REJECT)
    if state == VerdictState.CANDIDATE:
        return (Change.BLOCK, Change.REJECT)
    if state == VerdictState.BLOCKED:
        return (Change.REOPEN, Change.REJECT)
    if state == VerdictState.REJECTED:
        return (Change.REOPEN,)
    return (Change.REOPEN, Change.BLOCK, Change.REJECT)


@transaction.atomic
def change_verdict(
    *,
    actor: User,
    deployment: Deployment,
    change: str,
    reason: str,
    unblocks_when: str = "",
    failure_class: str = "",
) -> Verdict:
    """Give a verdict without evidence, with a reason. A primary leaves its role without one.

    Raises PermissionDenied, ValidationError, and PromotionRefused where the present verdict does
    not allow it.
    """
    require(actor, Action.DECIDE)
    wanted, said = _known(change), needed("reason", reason)
    if wanted == Change.BLOCK and not unblocks_when.strip():
        raise ValidationError({"unblocks_when": "Say what would end the block."})
    now, slot = timezone.now(), _slot_of(deployment)
    holds = latest(deployment)
    if wanted not in changes_for(holds.state if holds else None):
        raise PromotionRefused(f"It is {holds.state if holds else 'unreviewed'}: {_hint(wanted)}")
    if wanted == Change.RETIRE and holds:
        given = step_down(actor=actor, verdict=holds, successor=None, reason=said, now=now)
    else:
        given = give(
            actor=actor,
            deployment=deployment,
            revision=deployment.revisions.filter(is_active=True).first(),
            state=GIVES[wanted],
            role=holds.role if holds else "",
            label={Change.REOPEN: "open for qualification"}.get(wanted, ""),
            reason=said,
            failure_class=failure_class,
            unblocks_when=unblocks_when.strip() if wanted == Change.BLOCK else "",
            now=now,
        )
    _let_go(actor, deployment, given, slot)
    telling.changed(given, actor)
    return given


def _known(change: str) -> Change:
    try:
        return Change(change)
    except ValueError:
        raise ValidationError({"change": f"One of {', '.join(Change)}."}) from None


def _hint(change: Change) -> str:
    return {
        Change.RETIRE: "only a primary can be retired.",
        Change.REOPEN: "there is nothing to reopen.",
    }.get(change, f"it cannot be {GIVES[change]} from there.")


def _slot_of(deployment: Deployment) -> PrimarySlot | None:
    """The slot that this deployment fills; every role it could fill is locked, in one order."""
    slots = [slot_for(role, for_change=True) for role in roles_for(deployment.artifact)]
    mine = [s for s in slots if s.verdict and s.verdict.deployment_id == deployment.pk]
    return mine[0] if mine else None


def _let_go(actor: User, deployment: Deployment, given: Verdict, slot: PrimarySlot | None) -> None:
    """Empty the slot it filled, keeping the promotion for a rollback, and close its requests."""
    if slot is not None:
        set_primary(slot, verdict=None, promotion=slot.promotion)
    if given.state == VerdictState.CANDIDATE:
        return
    mine = PromotionRequest.objects.filter(deployment=deployment, state__in=UNDECIDED)
    for request in mine.select_related("deployment__artifact", "requester"):
        end(request, RequestState.SUPERSEDED, f"It was {given.state}: {given.reason}", by=actor)
