"""Deployments whose evidence is made, not measured."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from catalog.models import Artifact, Deployment, Host, Revision, Runtime, RuntimeBuild
from people.models import User
from runs.campaigns.kinds import terms_for
from runs.campaigns.models import Kind
from runs.models import Run
from verdicts.policies.gates import SHIPPED
from verdicts.policies.models import Role
from verdicts.policies.services import add_version
from verdicts.policies.tests.making import meet_gates, passed_campaign
from verdicts.promotions.evaluating import stand
from verdicts.promotions.models import Decision, PromotionRequest
from verdicts.promotions.services import decide, request_promotion
from verdicts.promotions.slots import slot_for

ROLE = Role.AGENT_ROUTE


def add_deployment(slug: str, **changes: Any) -> Deployment:
    """With an active revision, and nothing measured."""
    host, _ = Host.objects.get_or_create(key="mini", defaults={"name": "Mini"})
    runtime, _ = Runtime.objects.get_or_create(key="llama.cpp", defaults={"name": "llama.cpp"})
    build, _ = RuntimeBuild.objects.get_or_create(runtime=runtime, version="b1")
    facts = {"canonical_route": slug, "host": host, "runtime": runtime}
    artifact = Artifact.objects.create(name=f"Model {slug}")
    deployment = Deployment.objects.create(slug=slug, artifact=artifact, **{**facts, **changes})
    Revision.objects.create(deployment=deployment, number=1, runtime_build=build, parallel=2)
    return deployment


def prove(deployment: Deployment, role: Role = ROLE) -> list[Run]:
    """What meets every gate of the role's policy, as of now."""
    return meet_gates(deployment, role)


def rehearse(deployment: Deployment) -> None:
    """A shortened canary, which never counts."""
    terms = terms_for(Kind.CANARY, rehearsal_s=600).as_dict()
    passed_campaign(deployment, Kind.CANARY, timezone.now(), is_rehearsal=True, terms=terms)


def proven(slug: str) -> Deployment:
    deployment = add_deployment(slug)
    prove(deployment)
    return deployment


def people(*names: str) -> list[User]:
    return [User.objects.get(username=name) for name in names]


def ask(person: User, deployment: Deployment, role: Role = ROLE) -> PromotionRequest:
    return request_promotion(actor=person, deployment=deployment, role=role, reason="better")


def approve(person: User, request: PromotionRequest, **changes: Any) -> Decision:
    """Of what there is now."""
    reviewed = {
        "digest": stand(request.deployment, Role(request.role), at=timezone.now()).digest,
        "slot_version": slot_for(Role(request.role)).version,
    }
    return decide(actor=person, request=request, kind="approve", **{**reviewed, **changes})


def promoted(asker: User, approver: User, slug: str) -> PromotionRequest:
    """A deployment that went all the way."""
    request = ask(asker, proven(slug))
    approve(approver, request)
    request.refresh_from_db()
    return request


def state_of(deployment: Deployment) -> str:
    verdict = deployment.verdicts.first()
    return verdict.state if verdict else "unreviewed"


def need_approvals(count: int, role: Role = ROLE) -> None:
    """By the current policy version."""
    add_version(
        role=role, gates=SHIPPED[role], note="more eyes", author=None, approvals_needed=count
    )
