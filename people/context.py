"""What templates may know about the person: a flag for each action."""

from __future__ import annotations

from django.http import HttpRequest

from people.access import ALLOWED, roles_of


def access(request: HttpRequest) -> dict[str, dict[str, bool]]:
    """`may.start_run` and so on, for the person of this request."""
    roles = roles_of(request.user) if hasattr(request, "user") else frozenset()
    return {"may": {action.value: bool(roles & who) for action, who in ALLOWED.items()}}
