"""What runs have to do with follow-ups: which run proves one done, and which failure opens it."""

from __future__ import annotations

from datetime import datetime

from django.urls import reverse

from catalog.follow_ups.services import (
    FollowUpRefused,
    Proof,
    close,
    note_failure,
    reopen_what_failed_again,
)
from catalog.models import Deployment, FollowUp
from people.access import Action, require
from people.models import User
from runs.explain import explain
from runs.models import Outcome, Run, RunState

FAILED = (Outcome.FAIL, Outcome.DEGRADED)


def close_follow_up(
    *, actor: User, follow_up: FollowUp, run_number: int | None = None, reason: str = ""
) -> FollowUp:
    """Close by a run, or with a reason.

    Raises PermissionDenied; FollowUpRefused without either, and for a run that proves nothing.
    """
    require(actor, Action.EDIT_FOLLOW_UP)
    proof = None if run_number is None else proof_by(follow_up, run_number)
    return close(actor=actor, follow_up=follow_up, proof=proof, reason=reason)


def proof_by(follow_up: FollowUp, run_number: int) -> Proof:
    """Raises FollowUpRefused unless this run of its deployments passed since it was opened."""
    run = Run.objects.select_related("suite", "deployment").filter(pk=run_number).first()
    if run is None:
        raise FollowUpRefused(f"There is no run #{run_number}.")
    tied = follow_up.deployments.all()
    if tied and run.deployment not in tied:
        raise FollowUpRefused(
            f"Run #{run.pk} is of {run.deployment}, which this follow-up is not about."
        )
    if run.state != RunState.FINISHED or run.outcome != Outcome.CLEAN_PASS:
        raise FollowUpRefused(
            f"Run #{run.pk} is no clean pass, so it proves nothing. Name another, or give a "
            "reason alone."
        )
    if run.started_at is None or run.started_at < opened_at(follow_up):
        raise FollowUpRefused(
            f"Run #{run.pk} is older than this follow-up, so it cannot prove it done. Run again."
        )
    said = f"Clean pass in run #{run.pk}, {run.suite.name} through {run.layer}."
    return Proof(run=run.pk, path=reverse("run-detail", args=[run.pk]), said=said)


def opened_at(follow_up: FollowUp) -> datetime:
    return follow_up.opened_at or follow_up.created_at


def proving_runs(follow_up: FollowUp, count: int = 10) -> list[Run]:
    """The latest runs that could close it."""
    runs = Run.objects.filter(
        state=RunState.FINISHED,
        outcome=Outcome.CLEAN_PASS,
        started_at__gte=opened_at(follow_up),
    )
    if tied := list(follow_up.deployments.all()):
        runs = runs.filter(deployment__in=tied)
    wanted = runs.select_related("suite", "deployment").defer("plan", "report")
    return list(wanted.order_by("-pk")[:count])


def text_for(run: Run) -> str:
    """What a follow-up about this run may begin with."""
    explained = explain(run.failure_class)
    title = explained.title if explained else run.get_outcome_display()
    return f"{title}: {run.suite.name} through {run.layer}. {run.explanation}".strip()


def after_run(run: Run) -> int:
    """A failure of a class that was closed as done opens it again. Gives how many."""
    if run.outcome not in FAILED or not run.failure_class:
        return 0
    return reopen_what_failed_again(
        deployment=run.deployment,
        failure_class=run.failure_class,
        text=f"Run #{run.pk} met it again. {run.explanation}".strip(),
        path=reverse("run-detail", args=[run.pk]),
    )


def after_failing_campaign(
    *, deployment: Deployment, title: str, text: str, path: str
) -> FollowUp:
    """A campaign that fails raises a follow-up by itself; nobody may be looking."""
    return note_failure(
        deployment=deployment, text=f"{title} fails: find the cause.", seen=text, path=path
    )
