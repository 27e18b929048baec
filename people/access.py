"""What each role may do: one table, asked by services, views, templates and the API alike."""

from __future__ import annotations

from enum import StrEnum

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied

from people.models import User


class Role(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    ADMIN = "admin"


class Action(StrEnum):
    VIEW = "view"
    START_RUN = "start_run"
    CANCEL_RUN = "cancel_run"
    REGISTER_DEPLOYMENT = "register_deployment"
    EDIT_ENDPOINT = "edit_endpoint"
    DISCOVER = "discover"
    EDIT_SUITE = "edit_suite"
    EDIT_LAUNCH_PROFILE = "edit_launch_profile"


# Only admins create endpoints (design 8): registering a deployment makes some.
ALLOWED: dict[Action, frozenset[Role]] = {
    Action.VIEW: frozenset(Role),
    Action.START_RUN: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
    Action.CANCEL_RUN: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
    Action.REGISTER_DEPLOYMENT: frozenset({Role.OPERATOR, Role.ADMIN}),
    Action.DISCOVER: frozenset({Role.OPERATOR, Role.ADMIN}),
    Action.EDIT_ENDPOINT: frozenset({Role.ADMIN}),
    Action.EDIT_SUITE: frozenset({Role.ADMIN}),
    Action.EDIT_LAUNCH_PROFILE: frozenset({Role.ADMIN}),
}


def roles_of(user: User | AnonymousUser) -> frozenset[Role]:
    """The person's roles; a superuser is an admin, anyone signed in may at least view."""
    if not isinstance(user, User) or not user.is_active:
        return frozenset()
    if user.is_superuser:
        return frozenset({Role.ADMIN})
    named = {name for name in user.groups.values_list("name", flat=True) if name in set(Role)}
    return frozenset({Role.VIEWER} | {Role(name) for name in named})


def may(user: User | AnonymousUser, action: Action) -> bool:
    """Whether this person may do this."""
    return bool(roles_of(user) & ALLOWED[action])


def require(user: User | AnonymousUser, action: Action) -> None:
    """Raise PermissionDenied, naming the roles that may, unless this person may do this."""
    if not may(user, action):
        who = " or ".join(sorted(ALLOWED[action]))
        raise PermissionDenied(f"This needs the role {who}.")
