"""What policies and the ledger will give; gone once they are there."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import models

from catalog.models import Deployment, Revision
from runs.models import Outcome, Run


class Role(models.TextChoices):
    AGENT_ROUTE = "agent_route", "agent route"
    SPECIALIST = "specialist", "specialist"
    TOOL_CODING = "tool_coding", "tool / coding"
    EMBEDDING_POOLING = "embedding_pooling", "embedding pooling"
    RERANK_POOLING = "rerank_pooling", "rerank pooling"


@dataclass(frozen=True, slots=True)
class GateResult:
    key: str
    title: str
    state: str
    sentence: str
    evidence: tuple[int, ...] = ()
    counts: bool = True

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    role: str
    approvals_needed: int = 1
    days_to_decide: int = 7


@dataclass(frozen=True, slots=True)
class Evaluated:
    gates: tuple[GateResult, ...]
    digest: str
    policy_version: PolicyVersion


def evaluate_revision(
    *, deployment: Deployment, revision: Revision, role: Role, at: datetime
) -> Evaluated:
    runs = Run.objects.filter(revision=revision, outcome=Outcome.CLEAN_PASS, finished_at__lte=at)
    found = tuple(runs.order_by("-pk").values_list("pk", flat=True)[:1])
    state = "pass" if found else "missing"
    gate = GateResult("identity", "Identity verified", state, "One clean pass.", found)
    said = json.dumps([role, revision.pk, gate.as_dict(), APPROVALS["needed"]])
    digest = hashlib.sha256(said.encode()).hexdigest()
    return Evaluated((gate,), digest, PolicyVersion(role, APPROVALS["needed"]))


APPROVALS = {"needed": 1}
