"""What templates may know about the person: a flag for each action."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from people.access import ALLOWED, Role, roles_of


def access(request: HttpRequest) -> dict[str, Any]:
    """`may.start_run` and so on, and the roles by name, for the person of this request."""
    roles = roles_of(request.user) if hasattr(request, "user") else frozenset()
    return {
        "may": {action.value: bool(roles & who) for action, who in ALLOWED.items()},
        "roles": [role.value for role in Role if role in roles],
    }
