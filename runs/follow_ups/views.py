"""Pages of follow-ups: the list, one of them, and each thing that can be done to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.follow_ups import selectors, services
from catalog.follow_ups.selectors import FollowUpQuery
from catalog.follow_ups.services import FollowUpRefused
from catalog.models import FollowUp
from catalog.selectors import reported_failures
from catalog.views import refuse
from people.access import Action, require
from runs.explain import explain
from runs.follow_ups.forms import CloseForm, CommentForm, NewForm, PlanForm, ReopenForm
from runs.follow_ups.services import close_follow_up, proving_runs, text_for
from runs.models import Run
from runs.views import person_of

ON_A_PAGE = 50


@require_safe
def follow_up_list(request: HttpRequest) -> HttpResponse:
    """What is still to be done, by whom, until when?"""
    query = FollowUpQuery.from_address(request.GET)
    found = selectors.follow_ups(query, person_of(request))
    encoded = query.encode()
    context = {
        "page": Paginator(found, ON_A_PAGE).get_page(request.GET.get("page")),
        "query": f"{encoded}&" if encoded else "",
        "chosen": query,
        "states": selectors.STATES.items(),
        "deployments": selectors.deployments_followed(),
        "assignees": selectors.assignees(),
        "today": selectors.today(),
        "failures": [] if query.is_filtered else reported_failures(),
    }
    return render(request, "follow_ups/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def follow_up_new(request: HttpRequest) -> HttpResponse:
    """Note something to be done; `?run=7` fills in what a run saw."""
    require(request.user, Action.EDIT_FOLLOW_UP)
    run = run_asked_about(request)
    form = NewForm(request.POST or None, initial=first_values(run))
    if request.method == "POST" and form.is_valid():
        given = dict(form.cleaned_data)
        led_from = given.pop("run")
        path = reverse("run-detail", args=[led_from.pk]) if led_from else ""
        try:
            made = services.raise_follow_up(actor=person_of(request), path=path, **given)
        except ValidationError as error:
            refuse(form, error)
        else:
            return redirect("follow-up", made.pk)
    known = selectors.open_about(run.deployment, run.failure_class) if run else None
    context = {"form": form, "run": run, "known": known}
    return render(request, "follow_ups/new.html", context, status=422 if form.errors else 200)


def run_asked_about(request: HttpRequest) -> Run | None:
    number = request.GET.get("run", "")
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        return None
    runs = Run.objects.select_related("deployment", "suite").defer("plan", "report")
    return get_object_or_404(runs, pk=int(number))


def first_values(run: Run | None) -> dict[str, Any]:
    if run is None:
        return {}
    return {
        "text": text_for(run),
        "deployments": [run.deployment.slug],
        "failure_class": run.failure_class,
        "run": run.pk,
    }


@require_safe
def follow_up_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """What is to be done, what was done, and what would close it?"""
    return detail_page(request, found(pk))


def found(pk: int) -> FollowUp:
    return get_object_or_404(FollowUp.objects.select_related("assignee"), pk=pk)


def detail_page(
    request: HttpRequest, follow_up: FollowUp, *, status: int = 200, **forms: Form
) -> HttpResponse:
    """With every form that applies; what is not given starts empty."""
    plan = {"assignee": follow_up.assignee, "due_on": follow_up.due_on}
    context: dict[str, Any] = {
        "follow_up": follow_up,
        "deployments": follow_up.deployments.select_related("artifact", "runtime"),
        "entries": follow_up.entries.all(),
        "explained": explain(follow_up.failure_class),
        "today": selectors.today(),
        "proving": proving_runs(follow_up) if follow_up.is_open else [],
        "comment_form": CommentForm(),
        "plan_form": PlanForm(initial=plan),
        "close_form": CloseForm(),
        "reopen_form": ReopenForm(),
        **forms,
    }
    return render(request, "follow_ups/detail.html", context, status=status)


@require_POST
def follow_up_comment(request: HttpRequest, pk: int) -> HttpResponse:
    return change(request, pk, "comment_form", CommentForm(request.POST), services.comment)


@require_POST
def follow_up_plan(request: HttpRequest, pk: int) -> HttpResponse:
    return change(request, pk, "plan_form", PlanForm(request.POST), services.plan)


@require_POST
def follow_up_close(request: HttpRequest, pk: int) -> HttpResponse:
    def close(*, run: int | None, **given: Any) -> FollowUp:
        return close_follow_up(run_number=run, **given)

    return change(request, pk, "close_form", CloseForm(request.POST), close)


@require_POST
def follow_up_reopen(request: HttpRequest, pk: int) -> HttpResponse:
    return change(request, pk, "reopen_form", ReopenForm(request.POST), services.reopen)


def change(
    request: HttpRequest, pk: int, name: str, form: Form, service: Callable[..., Any]
) -> HttpResponse:
    """Do it and show the follow-up; what is refused is told beside the form."""
    require(request.user, Action.EDIT_FOLLOW_UP)
    follow_up = found(pk)
    if form.is_valid():
        try:
            service(actor=person_of(request), follow_up=follow_up, **form.cleaned_data)
        except FollowUpRefused as refused:
            form.add_error(None, str(refused))
        except ValidationError as error:
            refuse(form, error)
        else:
            messages.success(request, "Noted.")
            return redirect("follow-up", pk)
    return detail_page(request, found(pk), status=422, **{name: form})
