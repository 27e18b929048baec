"""What every page shows about runs: how many are going on now."""

from __future__ import annotations

from django.http import HttpRequest

from runs.models import Run, RunState


def running_now(request: HttpRequest) -> dict[str, int]:
    """`running_count`, for the indicator in the top bar; 0 for visitors."""
    if not getattr(request, "user", None) or not request.user.is_authenticated:
        return {"running_count": 0}
    return {"running_count": Run.objects.exclude(state=RunState.FINISHED).count()}
