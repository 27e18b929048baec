"""Pages of runs: the list, the plan, the live run and its result, one request."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from people.models import User


def person_of(request: HttpRequest) -> User:
    """Who is signed in; PermissionDenied for nobody."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
