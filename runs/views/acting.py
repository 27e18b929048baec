"""Cancelling and repeating a run."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from runs.models import Run
from runs.planning import RunRefused
from runs.services import cancel_run, repeat_run
from runs.views import person_of


@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(Run, pk=pk)
    try:
        cancel_run(actor=person_of(request), run=run)
    except RunRefused as refused:
        messages.warning(request, str(refused))
    return redirect("run-detail", pk=pk)


@require_POST
def run_repeat(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(Run.objects.select_related("deployment", "suite"), pk=pk)
    try:
        again = repeat_run(actor=person_of(request), run=run)
    except RunRefused as refused:
        messages.error(request, str(refused))
        return redirect("run-detail", pk=pk)
    return redirect("run-detail", pk=again.pk)
