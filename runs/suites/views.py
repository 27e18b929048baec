"""Pages of suites: the list, one with its versions, the editor."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from people.access import Action, require
from runs.engine.checks import CHECKS
from runs.models import Suite
from runs.suites.draft import Draft
from runs.suites.selectors import check_lines, listed_suites, versions_of
from runs.suites.services import restore_suite, save_suite
from runs.views import person_of


@require_safe
def suite_list(request: HttpRequest) -> HttpResponse:
    """What can be asked of a deployment?"""
    return render(request, "runs/suites/list.html", {"suites": listed_suites()})


@require_safe
def suite_detail(request: HttpRequest, key: str) -> HttpResponse:
    """What does this suite ask, and what did its versions change?"""
    versions = versions_of(key)
    if not versions:
        raise Http404(f"There is no suite {key}.")
    suite = next((v.suite for v in versions if v.suite.is_current), versions[0].suite)
    lines = check_lines(suite)
    context = {
        "suite": suite,
        "lines": lines,
        "requests": sum(line.requests for line in lines),
        "versions": versions,
    }
    return render(request, "runs/suites/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def suite_edit(request: HttpRequest, key: str = "") -> HttpResponse:
    """Edit a suite, or make a new one (from a copy with ?copy=)."""
    require(request.user, Action.EDIT_SUITE)
    suite = get_object_or_404(Suite, key=key, is_current=True) if key else None
    if request.method != "POST":
        return _show(request, suite, suite or _copied(request), _first(suite, request))
    draft = Draft.posted(request.POST.dict())
    if draft.press(request.POST.get("do", ""), request.POST.get("add", "")):
        return _show(request, suite, suite, draft)
    try:
        saved = save_suite(
            actor=person_of(request),
            key=suite.key if suite else draft.key,
            name=draft.name,
            description=draft.description,
            checks=draft.checks(),
            is_new=suite is None,
        )
    except ValidationError as wrong:
        return _show(request, suite, suite, draft, errors=wrong.messages)
    messages.success(request, f"{saved} is stored. New runs use it.")
    return redirect("suite", saved.key)


def _copied(request: HttpRequest) -> Suite | None:
    return Suite.objects.filter(key=request.GET.get("copy", ""), is_current=True).first()


def _first(suite: Suite | None, request: HttpRequest) -> Draft:
    if suite is not None:
        return Draft.of(suite)
    origin = _copied(request)
    if origin is None:
        return Draft()
    draft = Draft.of(origin)
    draft.key, draft.name = f"{origin.key}-copy"[:50], f"{origin.name} (copy)"
    return draft


def _show(
    request: HttpRequest,
    suite: Suite | None,
    origin: Suite | None,
    draft: Draft,
    errors: list[str] | None = None,
) -> HttpResponse:
    context = {
        "suite": suite,
        "origin": origin,
        "draft": draft,
        "rows": draft.numbered(),
        "all_checks": CHECKS.values(),
        "errors": errors or [],
    }
    return render(request, "runs/suites/edit.html", context, status=422 if errors else 200)


@require_POST
def suite_restore(request: HttpRequest, key: str, version: int) -> HttpResponse:
    """Bring an earlier version back, as a new one."""
    earlier = get_object_or_404(Suite, key=key, version=version)
    saved = restore_suite(actor=person_of(request), version=earlier)
    messages.success(request, f"What version {version} asked is asked again, as {saved}.")
    return redirect("suite", key)
