"""What a promotion leaves behind: its entry in the ledger and a notice to those it concerns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from people.access import ALLOWED, Action
from people.models import User
from verdicts.ledger.services import append
from verdicts.models import Verdict
from verdicts.notifications.models import Kind
from verdicts.notifications.services import publish
from verdicts.promotions.models import Decision, DecisionKind, PromotionRequest, RequestState

APPROVERS = [role.value for role in ALLOWED[Action.DECIDE]]


def requested(request: PromotionRequest) -> None:
    """To everybody who may decide it."""
    title = f"{request.requester_name} asks to make {request.deployment} {_for(request)}"
    record(request, kind="request", actor=request.requester, title=title, said=request.reason)
    tell(request, Kind.PROMOTION_REQUESTED, "asked", title, request.reason, deciders(request))


def answered(request: PromotionRequest, decision: Decision) -> None:
    title = f"{decision.person_name} answered about {request.deployment} {_for(request)}"
    record_decision(request, decision, title)
    kind = Kind.PROMOTION_REQUESTED
    tell(request, kind, f"said{decision.pk}", title, decision.comment, deciders(request))


def decided(request: PromotionRequest, decision: Decision) -> None:
    title = f"{decision.get_kind_display()} by {decision.person_name}: {request.deployment}"
    record_decision(request, decision, f"{title} {_for(request)}")
    if decision.kind == DecisionKind.ASK_MORE:
        tell(request, Kind.PROMOTION_DECIDED, f"said{decision.pk}", title, decision.comment)


def ended(request: PromotionRequest, by: User | None) -> None:
    """Approved, rejected, withdrawn, expired or superseded."""
    title = f"{request.get_state_display()}: {request.deployment} {_for(request)}"
    record(request, kind="request", actor=by, title=title, said=request.explanation)
    if request.state != RequestState.WITHDRAWN:
        tell(request, Kind.PROMOTION_DECIDED, request.state, title, request.explanation)


def rolled_back(request: PromotionRequest, restored: Verdict | None, by: User) -> None:
    now = f"{restored.deployment} is primary again" if restored else "nothing is primary now"
    title = f"Rolled back: {request.deployment} {_for(request)}; {now}"
    record(request, kind="rollback", actor=by, title=title, said=request.explanation)
    tell(request, Kind.PROMOTION_DECIDED, "rolled_back", title, request.explanation)


def changed(verdict: Verdict, by: User) -> None:
    """Blocked, rejected, reopened or retired without a promotion; the ledger has the verdict."""
    publish(
        kind=Kind.PROMOTION_DECIDED,
        key=f"verdict{verdict.pk}",
        title=f"{verdict.get_state_display()}: {verdict.deployment}, by {by.get_username()}",
        text=verdict.reason,
        path=reverse("deployment", args=[verdict.deployment.slug]),
        deployment=verdict.deployment,
    )


def record_decision(request: PromotionRequest, decision: Decision, title: str) -> None:
    """With what its person had before them, so that the ledger alone tells what was approved."""
    record(
        request,
        kind="approval",
        actor=decision.person,
        title=title,
        said=decision.comment,
        decision=decision.kind,
        evaluation=decision.evaluation.body,
        digest=decision.evaluation.digest,
        is_single_person=decision.is_single_person,
    )


def record(
    request: PromotionRequest,
    *,
    kind: str,
    actor: User | None,
    title: str,
    said: str,
    **more: Any,
) -> None:
    payload = {
        "deployment": request.deployment.slug,
        "revision": request.revision.number,
        "fingerprint": request.revision.fingerprint,
        "role": request.role,
        "policy": request.evaluation.body["policy"],
        "state": request.state,
        "reason": said,
        "evaluation_digest": request.evaluation.digest,
        "planned_route": request.planned_route,
        **more,
    }
    append(
        kind=kind,
        actor=actor,
        subject_kind="promotion",
        subject_id=request.pk,
        title=title,
        payload=payload,
        path=reverse("promotion-detail", args=[request.pk]),
    )


def tell(
    request: PromotionRequest,
    kind: Kind,
    step: str,
    title: str,
    text: str,
    people: Iterable[User] | None = None,
) -> None:
    """To `people`, or to the requester."""
    asked = [request.requester] if request.requester else []
    publish(
        kind=kind,
        key=f"{request.pk}:{step}",
        title=title,
        text=text,
        path=reverse("promotion-detail", args=[request.pk]),
        deployment=request.deployment,
        people=asked if people is None else people,
    )


def deciders(request: PromotionRequest | None = None) -> list[User]:
    """All who may decide; of a request, without the one who asked."""
    people = User.objects.filter(is_active=True, groups__name__in=APPROVERS).distinct()
    if request is not None and request.requester is not None:
        people = people.exclude(pk=request.requester.pk)
    return list(people)


def _for(request: PromotionRequest) -> str:
    return f"primary for {request.get_role_display()}"
