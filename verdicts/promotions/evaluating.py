"""How a deployment stands for a role: evaluated now, and told in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from catalog.models import Deployment, Revision
from verdicts.policies.evaluation import GateResult
from verdicts.policies.models import PolicyVersion, Role
from verdicts.policies.selectors import evaluate_revision
from verdicts.promotions.refusals import PromotionRefused

MET = ("pass", "waived")


@dataclass(frozen=True, slots=True)
class Standing:
    """The evaluation of one revision for one role by one policy version, at one moment."""

    deployment: Deployment
    revision: Revision
    role: Role
    policy_version: PolicyVersion
    gates: tuple[GateResult, ...]
    digest: str
    at: datetime

    @property
    def counting(self) -> list[GateResult]:
        """Without dry-run gates."""
        return [gate for gate in self.gates if gate.counts]

    @property
    def missing(self) -> list[GateResult]:
        return [gate for gate in self.counting if gate.state not in MET]

    @property
    def waived(self) -> list[GateResult]:
        return [gate for gate in self.counting if gate.state == "waived"]

    @property
    def approvals_needed(self) -> int:
        return self.policy_version.approvals_needed

    @property
    def time_to_decide(self) -> timedelta:
        return timedelta(days=self.policy_version.days_to_decide)


def stand(deployment: Deployment, role: Role, *, at: datetime) -> Standing:
    """The active revision, judged at `at`. Raises PromotionRefused where that cannot be told."""
    revision = deployment.revisions.filter(is_active=True).first()
    if revision is None:
        raise PromotionRefused("It has no active revision: register its configuration first.")
    evaluated = evaluate_revision(deployment=deployment, revision=revision, role=role, at=at)
    return Standing(
        deployment=deployment,
        revision=revision,
        role=role,
        policy_version=evaluated.policy_version,
        gates=evaluated.gates,
        digest=evaluated.digest,
        at=at,
    )


def standing_or_why(
    deployment: Deployment, role: Role, *, at: datetime
) -> tuple[Standing | None, str]:
    """How it stands, or why that cannot be told."""
    try:
        return stand(deployment, role, at=at), ""
    except PromotionRefused as refused:
        return None, str(refused)


def as_body(standing: Standing) -> dict[str, Any]:
    """The evaluation as it is kept: enough to read it a year later."""
    return {
        "at": standing.at.isoformat(),
        "deployment": standing.deployment.slug,
        "revision": standing.revision.number,
        "fingerprint": standing.revision.fingerprint,
        "role": standing.role.value,
        "policy": str(standing.policy_version),
        "approvals_needed": standing.approvals_needed,
        "gates": [gate.as_dict() for gate in standing.gates],
    }
