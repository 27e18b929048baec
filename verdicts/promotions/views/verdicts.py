"""Verdicts given without a promotion: block, reject, reopen, retire."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from people.access import Action, require
from runs.views import person_of
from verdicts.promotions import services
from verdicts.promotions.forms import AgainstForm, BlockForm, ChangeForm
from verdicts.promotions.services.giving import latest
from verdicts.promotions.services.standing import Change
from verdicts.promotions.views.common import attempt, deployment_named


@dataclass(frozen=True, slots=True)
class Words:
    """`effect` says what will happen, before it does."""

    title: str
    effect: str


WORDS = {
    Change.BLOCK: Words(
        "Block", "Nothing may rely on it until the block is over. If it is primary, its role is "
        "left without one; requests for it are closed.",
    ),
    Change.REJECT: Words(
        "Reject", "It is out of the running until somebody reopens it. If it is primary, its role "
        "is left without one; requests for it are closed.",
    ),
    Change.REOPEN: Words(
        "Make it a candidate", "It may be qualified and requested for promotion. The verdicts "
        "before stay in its history.",
    ),
    Change.RETIRE: Words(
        "Retire as primary", "It becomes a candidate, and its role is left without a primary "
        "until another is promoted. Nothing takes over by itself.",
    ),
}  # fmt: skip
FORMS: dict[Change, type[ChangeForm]] = {
    Change.BLOCK: BlockForm,
    Change.REJECT: AgainstForm,
    Change.REOPEN: ChangeForm,
    Change.RETIRE: ChangeForm,
}


@require_http_methods(["GET", "HEAD", "POST"])
def verdict_change(request: HttpRequest, slug: str, change: str) -> HttpResponse:
    """Block, reject, reopen or retire, with a reason."""
    person, deployment = person_of(request), deployment_named(slug)
    require(person, Action.DECIDE)
    if change not in set(Change):
        raise Http404
    wanted, refusal = Change(change), ""
    form = FORMS[wanted](request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        made, refusal = attempt(
            lambda: services.change_verdict(
                actor=person, deployment=deployment, change=wanted, **given
            )
        )
        if made:
            messages.success(request, "The verdict was given and recorded.")
            return redirect("deployment", slug)
    context = {
        "deployment": deployment,
        "form": form,
        "change": wanted,
        "words": WORDS[wanted],
        "verdict": latest(deployment),
        "refusal": refusal,
    }
    status = 409 if refusal else 200
    return render(request, "promotions/change.html", context, status=status)
