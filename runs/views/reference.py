"""What the instrument knows, for people: runtimes and failure classes."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.reference import class_groups, gateway_warnings, runtime_cards


@require_safe
def runtimes(request: HttpRequest) -> HttpResponse:
    """What can be read from each runtime, what to mind, and what that was proven against?"""
    context = {"cards": runtime_cards(), "gateways": gateway_warnings()}
    return render(request, "runs/reference/runtimes.html", context)


@require_safe
def failure_classes(request: HttpRequest) -> HttpResponse:
    """What does each failure class mean, and what to do next?"""
    return render(request, "runs/reference/failure_classes.html", {"groups": class_groups()})
