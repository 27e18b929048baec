"""Verdicts are given in one place, so that none lacks its entry in the ledger."""

from __future__ import annotations

from datetime import datetime

from catalog.models import Deployment, Revision
from people.models import User
from verdicts.ledger.services import record_verdict
from verdicts.models import Verdict, VerdictState


def give(
    *,
    actor: User,
    deployment: Deployment,
    state: VerdictState,
    now: datetime,
    role: str = "",
    label: str = "",
    reason: str = "",
    revision: Revision | None = None,
    failure_class: str = "",
    unblocks_when: str = "",
    former: Verdict | None = None,
    successor: Verdict | None = None,
) -> Verdict:
    """Add a verdict and record it. The caller has checked that it may be given."""
    verdict = Verdict.objects.create(
        deployment=deployment,
        revision=revision,
        state=state,
        role=role,
        label=label,
        reason=reason,
        failure_class=failure_class,
        unblocks_when=unblocks_when,
        former=former,
        successor=successor,
        author=actor,
        author_name=actor.get_username(),
        decided_at=now,
    )
    record_verdict(verdict)
    return verdict


def step_down(
    *, actor: User, verdict: Verdict, successor: Verdict | None, reason: str, now: datetime
) -> Verdict:
    """Make a primary a candidate, with the link to what took its place, if anything did."""
    return give(
        actor=actor,
        deployment=verdict.deployment,
        revision=verdict.revision,
        state=VerdictState.CANDIDATE,
        role=verdict.role,
        label="retired as primary",
        reason=reason,
        successor=successor,
        now=now,
    )


def latest(deployment: Deployment) -> Verdict | None:
    """The verdict that holds."""
    return deployment.verdicts.order_by("-decided_at", "-pk").first()
