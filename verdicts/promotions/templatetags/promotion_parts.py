"""Parts of a deployment's page that belong to promotions."""

from __future__ import annotations

from typing import Any

from django import template

from catalog.models import Deployment
from verdicts.models import Verdict, VerdictState
from verdicts.promotions.models import UNDECIDED, PrimarySlot, PromotionRequest
from verdicts.promotions.services.standing import changes_for
from verdicts.promotions.views.verdicts import WORDS

register = template.Library()


@register.inclusion_tag("promotions/actions.html", takes_context=True)
def promotion_actions(
    context: dict[str, Any], deployment: Deployment, verdict: Verdict | None
) -> dict[str, Any]:
    """Ask for a promotion, open the one that waits, or give another verdict."""
    state = verdict.state if verdict else None
    active = context.get("active")
    is_it_already = (
        verdict is not None
        and verdict.state == VerdictState.PRIMARY
        and verdict.revision == active
    )
    held = PrimarySlot.objects.filter(verdict__deployment=deployment).first()
    waiting = PromotionRequest.objects.filter(deployment=deployment, state__in=UNDECIDED)
    return {
        "may": context["may"],
        "deployment": deployment,
        "waiting": waiting.first(),
        "can_ask": state not in (VerdictState.BLOCKED, VerdictState.REJECTED)
        and not is_it_already,
        "in_force": held.promotion_id if held else None,
        "changes": [(change, WORDS[change].title) for change in changes_for(state)],
    }
