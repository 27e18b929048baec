"""Launch profiles: the list, one with its resolved argument list, editing, and one launch."""

from __future__ import annotations

import shlex
from dataclasses import replace

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from people.access import Action, require
from runs.launch.arguments import ArgumentRefused, Parameters
from runs.launch.forms import ParametersForm, ProfileForm
from runs.launch.models import Launch, LaunchProfile
from runs.launch.services import resolve, resolve_variables, save_profile, used_places
from runs.views import person_of

USUAL = {
    "parallel": 4,
    "context_per_slot": 8192,
    "kv_type": "f16",
    "prompt_cache_mib": 0,
    "checkpoints": 0,
    "model_path": "/models/model",
}
SHOWN_PORT = 8999


@require_safe
def profile_list(request: HttpRequest) -> HttpResponse:
    """How can each runtime be started here?"""
    profiles = LaunchProfile.objects.select_related("runtime").annotate(used=Count("launches"))
    return render(request, "runs/launch/profile_list.html", {"profiles": profiles})


@require_safe
def profile_detail(request: HttpRequest, key: str) -> HttpResponse:
    """What exactly would be started, for these values?"""
    profile = get_object_or_404(LaunchProfile.objects.select_related("runtime"), key=key)
    used = used_places(profile)
    form = ParametersForm(request.GET.dict() if request.GET else USUAL, used=used)
    context = {"profile": profile, "form": form, "launches": launches_of(profile)}
    if form.is_valid():
        context |= preview(profile, form.parameters())
    return render(request, "runs/launch/profile_detail.html", context)


def launches_of(profile: LaunchProfile) -> list[Launch]:
    rows = profile.launches.select_related("deployment__artifact", "revision__deployment")
    return list(rows[:10])


def preview(profile: LaunchProfile, parameters: Parameters) -> dict[str, object]:
    """The argument list as the program gets it; the port is an example."""
    given = replace(parameters, port=SHOWN_PORT)
    try:
        argv = resolve(profile, given)
        variables = resolve_variables(profile, given)
    except ArgumentRefused as refused:
        return {"refused": str(refused)}
    return {
        "argv": argv,
        "variables": variables,
        "quoted": shlex.join(argv),
        "given": given,
        "port": SHOWN_PORT,
    }


@require_http_methods(["GET", "HEAD", "POST"])
def profile_edit(request: HttpRequest, key: str = "") -> HttpResponse:
    """Make or change a profile."""
    require(request.user, Action.EDIT_LAUNCH_PROFILE)
    profile = get_object_or_404(LaunchProfile, key=key) if key else None
    form = ProfileForm(request.POST or None, instance=profile)
    if request.method == "POST" and form.is_valid():
        try:
            saved = save_profile(actor=person_of(request), profile=form.save(commit=False))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, "The profile is stored.")
            return redirect("launch-profile", saved.key)
    status = 422 if form.errors else 200
    context = {"form": form, "profile": profile}
    return render(request, "runs/launch/profile_edit.html", context, status=status)


@require_safe
def launch_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """What was started, and why it ended."""
    launch = get_object_or_404(
        Launch.objects.select_related(
            "profile", "deployment__artifact", "revision__deployment", "host"
        ),
        pk=pk,
    )
    return render(request, "runs/launch/launch_detail.html", {"launch": launch})
