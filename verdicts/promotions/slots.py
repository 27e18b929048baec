"""The one primary of a role: found, and changed by compare-and-set."""

from __future__ import annotations

from django.db.models import OuterRef, Subquery

from verdicts.models import Verdict, VerdictState
from verdicts.policies.models import Role
from verdicts.policies.roles import words_for
from verdicts.promotions.models import PrimarySlot, PromotionRequest
from verdicts.promotions.refusals import Superseded

CHANGED = (
    "The primary for {role} changed while you looked. Nothing was done: read the page again, "
    "then decide."
)


def slot_for(role: Role, *, for_change: bool = False) -> PrimarySlot:
    """The role's slot. `for_change` locks it, so that all that decides on a role takes turns."""
    PrimarySlot.objects.get_or_create(role=role)
    slots = PrimarySlot.objects.select_related("verdict__deployment", "promotion")
    if for_change:
        slots = slots.select_for_update(of=("self",))
    return slots.get(role=role)


def set_primary(
    slot: PrimarySlot, *, verdict: Verdict | None, promotion: PromotionRequest | None
) -> None:
    """Compare-and-set. Raises Superseded when the slot is no longer as it was read."""
    changed = PrimarySlot.objects.filter(pk=slot.pk, version=slot.version).update(
        version=slot.version + 1, verdict=verdict, promotion=promotion
    )
    if not changed:
        raise Superseded(CHANGED.format(role=Role(slot.role).label))


def primaries_for(role: Role) -> list[Verdict]:
    """The verdicts that hold and say primary for the role: ours, or those of a report."""
    newest = Verdict.objects.filter(deployment=OuterRef("deployment"))
    holds = newest.order_by("-decided_at", "-pk").values("pk")[:1]
    return list(
        Verdict.objects.filter(
            pk=Subquery(holds), state=VerdictState.PRIMARY, role__in=words_for(role)
        )
        .select_related("deployment__artifact", "deployment__runtime", "revision")
        .order_by("-decided_at", "-pk")
    )
