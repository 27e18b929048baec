"""What each role may do: one table, asked by services, views, templates and the API alike."""

from __future__ import annotations

from enum import StrEnum

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied

from people.models import User
from people.scopes import scope_of


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
    ADD_CLAIM = "add_claim"
    EDIT_WEBHOOK = "edit_webhook"
    START_SWEEP = "start_sweep"
    CONTROL_SWEEP = "control_sweep"
    IMPORT_TRAFFIC = "import_traffic"
    EDIT_FOLLOW_UP = "edit_follow_up"
    START_CAMPAIGN = "start_campaign"
    CONTROL_CAMPAIGN = "control_campaign"
    REQUEST_PROMOTION = "request_promotion"
    DECIDE = "decide"
    EDIT_POLICY = "edit_policy"
    WAIVE = "waive"
    VERIFY_LEDGER = "verify_ledger"
    PIN_BASELINE = "pin_baseline"


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
    Action.ADD_CLAIM: frozenset({Role.OPERATOR, Role.ADMIN}),
    Action.EDIT_WEBHOOK: frozenset({Role.ADMIN}),
    Action.START_SWEEP: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
    Action.CONTROL_SWEEP: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
    Action.IMPORT_TRAFFIC: frozenset({Role.OPERATOR, Role.ADMIN}),
    Action.EDIT_FOLLOW_UP: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
    Action.START_CAMPAIGN: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
    Action.CONTROL_CAMPAIGN: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
    Action.REQUEST_PROMOTION: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
    Action.DECIDE: frozenset({Role.APPROVER, Role.ADMIN}),
    Action.EDIT_POLICY: frozenset({Role.ADMIN}),
    Action.WAIVE: frozenset({Role.APPROVER, Role.ADMIN}),
    Action.PIN_BASELINE: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
    Action.VERIFY_LEDGER: frozenset({Role.OPERATOR, Role.APPROVER, Role.ADMIN}),
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
    """Whether this person may do this, with the token that was shown if there was one."""
    return bool(roles_of(user) & ALLOWED[action]) and within_scopes(user, action)


def within_scopes(user: User | AnonymousUser, action: Action) -> bool:
    """Whether the token's scopes cover the action; a session is not limited by any."""
    scopes = user.token_scopes if isinstance(user, User) else None
    return scopes is None or scope_of(action) in scopes


def require(user: User | AnonymousUser, action: Action) -> None:
    """Raise PermissionDenied, naming what is missing, unless this person may do this."""
    if not within_scopes(user, action):
        raise PermissionDenied(f"This token lacks the scope {scope_of(action)}.")
    if not may(user, action):
        who = " or ".join(sorted(ALLOWED[action]))
        raise PermissionDenied(f"This needs the role {who}.")
