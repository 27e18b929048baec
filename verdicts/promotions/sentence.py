"""The one sentence of every deployment: why it is not primary, and what is left."""

from __future__ import annotations

from datetime import datetime

from catalog.models import Deployment, Origin
from verdicts.models import Verdict, VerdictState
from verdicts.policies.roles import likely_role
from verdicts.promotions.evaluating import Standing, standing_or_why
from verdicts.promotions.models import UNDECIDED, PromotionRequest
from verdicts.selectors import why_not_primary


def sentence_about(deployment: Deployment, verdict: Verdict | None, *, at: datetime) -> str:
    """For the top of its page, by the gates of the role that it is likeliest to fill."""
    return why_not_primary(verdict, left=what_is_left(deployment, verdict, at=at))


def what_is_left(deployment: Deployment, verdict: Verdict | None, *, at: datetime) -> str:
    """Empty for a primary with nothing left to prove."""
    if verdict and verdict.state == VerdictState.REJECTED:
        return "it has to be reopened before it can be qualified again"
    if verdict and verdict.state == VerdictState.BLOCKED:
        return f"blocked until {verdict.unblocks_when or 'somebody reopens it'}"
    role = likely_role(deployment)
    standing, problem = standing_or_why(deployment, role, at=at)
    if standing is None:
        return problem.rstrip(".")
    if verdict and verdict.state == VerdictState.PRIMARY:
        return _left_for_primary(verdict, standing)
    asked = PromotionRequest.objects.filter(deployment=deployment, state__in=UNDECIDED).first()
    if asked:
        return f"request #{asked.pk} for {asked.get_role_display()} waits for a decision"
    return gates_left(standing)


def _left_for_primary(verdict: Verdict, standing: Standing) -> str:
    """A report's word is none of ours, and a new revision starts at zero."""
    if verdict.origin == Origin.IMPORTED:
        return f"as reported, {gates_left(standing, 'to prove it here')}"
    if verdict.revision is not None and verdict.revision != standing.revision:
        of = f"given to revision {verdict.revision.number}, {standing.revision.number} is active"
        return f"{of}, {gates_left(standing)}"
    if standing.missing:
        return f"but {_named(standing)} no longer hold"
    return ""


def gates_left(standing: Standing, what: str = "") -> str:
    """ "left for agent route: 12 of 14 gates, first identity verified"."""
    total, left = len(standing.counting), len(standing.missing)
    if not left:
        return f"all {total} gates for {standing.role.label} are met, so it can be requested"
    aim = what or f"for {standing.role.label}"
    first = _lower_first(standing.missing[0].title)
    return f"left {aim}: {left} of {total} gates, first {first}"


def _named(standing: Standing) -> str:
    return ", ".join(_lower_first(gate.title) for gate in standing.missing)


def _lower_first(title: str) -> str:
    """ "Identity verified" inside a sentence; JSON stays as it is."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]
