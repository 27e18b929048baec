"""What waits for a decision, asking for a promotion, and its review."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from people.access import Action, require
from runs.views import person_of
from verdicts.policies.models import Role
from verdicts.policies.roles import likely_role, roles_for
from verdicts.promotions import selectors, services
from verdicts.promotions.evaluating import standing_or_why
from verdicts.promotions.forms import DecisionForm, RequestForm, SayForm
from verdicts.promotions.models import PromotionRequest
from verdicts.promotions.review import review
from verdicts.promotions.views.common import attempt, deployment_named

PER_PAGE = 20


@require_safe
def promotion_list(request: HttpRequest) -> HttpResponse:
    """What waits for me?"""
    person, now = person_of(request), timezone.now()
    role, state = request.GET.get("role", ""), request.GET.get("state", "")
    waiting = selectors.waiting(at=now)
    decided = selectors.decided(role=role, state=state)
    context = {
        "waiting": waiting,
        "mine_to_decide": selectors.to_decide_by(person, waiting),
        "primaries": selectors.primaries(),
        "page": Paginator(decided, PER_PAGE).get_page(request.GET.get("page")),
        "chosen": {"role": role, "state": state},
        "roles": Role.choices,
        "states": selectors.ENDS,
        "is_filtered": bool(role or state),
        "query": selectors.encoded(role=role, state=state),
    }
    return render(request, "promotions/list.html", context)


@require_safe
def promotion_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Should I approve? Or: what was decided, on what?"""
    return _page(request, _request(pk))


def _page(
    request: HttpRequest, asked: PromotionRequest, *, comment: str = "", refusal: str = ""
) -> HttpResponse:
    """After a refusal with its words, what was typed, and what there is to review by now."""
    status = 409 if refusal else 200
    if not asked.is_undecided:
        context = {"asked": asked, "refusal": refusal, **selectors.outcome_of(asked)}
        return render(request, "promotions/decided.html", context, status=status)
    person, seen = person_of(request), review(asked, at=timezone.now())
    digest = seen.standing.digest if seen.standing else ""
    given = {"digest": digest, "slot_version": seen.slot.version, "comment": comment}
    context = {
        "asked": asked,
        "review": seen,
        "refusal": refusal,
        "form": DecisionForm(initial=given),
        "say_form": SayForm(auto_id="say_%s"),
        "is_mine": asked.requester_id == person.pk,
        "is_single_person": settings.SINGLE_PERSON_MODE,
    }
    return render(request, "promotions/review.html", context, status=status)


def _request(pk: int) -> PromotionRequest:
    return get_object_or_404(selectors.requests(), pk=pk)


@require_POST
def promotion_decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve, reject or ask for more."""
    person, asked = person_of(request), _request(pk)
    require(person, Action.DECIDE)
    form, kind = DecisionForm(request.POST), request.POST.get("kind", "")
    refusal = "The form was incomplete. Read the page again, then decide."
    if form.is_valid():
        given = form.cleaned_data
        _, refusal = attempt(
            lambda: services.decide(actor=person, request=asked, kind=kind, **given)
        )
    if refusal:
        comment = request.POST.get("comment", "")
        return _page(request, _request(pk), comment=comment, refusal=refusal)
    messages.success(request, selectors.said_after(_request(pk)))
    return redirect("promotion-detail", pk)


@require_POST
def promotion_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """The requester says what was asked for."""
    return _act(request, pk, services.answer, "Answered. It waits for a decision again.")


@require_POST
def promotion_withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """The requester takes it back."""
    return _act(request, pk, services.withdraw, "Withdrawn.")


@require_POST
def promotion_rollback(request: HttpRequest, pk: int) -> HttpResponse:
    """Restore the former primary, at once."""
    return _act(request, pk, services.roll_back, "Rolled back.")


def _act(request: HttpRequest, pk: int, service: Callable[..., object], done: str) -> HttpResponse:
    """One service that takes a request and a comment."""
    person, asked, comment = person_of(request), _request(pk), request.POST.get("comment", "")
    _, refusal = attempt(lambda: service(actor=person, request=asked, comment=comment))
    if refusal:
        return _page(request, _request(pk), refusal=refusal)
    messages.success(request, done)
    return redirect("promotion-detail", pk)


@require_http_methods(["GET", "HEAD", "POST"])
def promotion_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask that it becomes primary for a role."""
    person, deployment = person_of(request), deployment_named(slug)
    require(person, Action.REQUEST_PROMOTION)
    role, roles = request.GET.get("role", ""), roles_for(deployment.artifact)
    wanted = Role(role) if role in roles else likely_role(deployment)
    route = {"planned_route": deployment.canonical_route}
    form, refusal = RequestForm(request.POST or None, initial=route), ""
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        made, refusal = attempt(
            lambda: services.request_promotion(
                actor=person, deployment=deployment, role=wanted, **given
            )
        )
        if made:
            messages.success(request, "Requested. Everybody who may decide was told.")
            return redirect("promotion-detail", made.pk)
    standing, problem = standing_or_why(deployment, wanted, at=timezone.now())
    context = {
        "deployment": deployment,
        "form": form,
        "role": wanted,
        "roles": roles,
        "standing": standing,
        "problem": problem,
        "refusal": refusal,
        "retires": selectors.would_retire(wanted, deployment),
    }
    status = 409 if refusal else 200
    return render(request, "promotions/new.html", context, status=status)
