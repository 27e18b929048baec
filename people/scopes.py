"""What a token may be given: scopes, each a set of the actions in `people.access`."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    READ = "read"
    RUN = "run"
    CAMPAIGN = "campaign"
    DECIDE = "decide"
    ADMIN = "admin"


TITLES = {
    Scope.READ: "Read everything its person sees",
    Scope.RUN: "Start, cancel and repeat runs, register what is measured",
    Scope.CAMPAIGN: "Start and stop sweeps and campaigns, import traffic",
    Scope.DECIDE: "Request, review and decide promotions, give verdicts",
    Scope.ADMIN: "Edit endpoints, suites, profiles, policies and webhooks",
}

# By the action's name. What stands nowhere needs the admin scope, so a new action starts closed.
ACTIONS: dict[Scope, frozenset[str]] = {
    Scope.READ: frozenset({"view"}),
    Scope.RUN: frozenset(
        [
            "start_run",
            "cancel_run",
            "register_deployment",
            "discover",
            "add_claim",
            "edit_follow_up",
            "pin_baseline",
        ]
    ),
    Scope.CAMPAIGN: frozenset(
        ["start_sweep", "control_sweep", "start_campaign", "control_campaign", "import_traffic"]
    ),
    Scope.DECIDE: frozenset({"request_promotion", "decide", "waive", "verify_ledger"}),
}


def scope_of(action: str) -> Scope:
    """The scope that a token needs for this action."""
    return next((scope for scope, names in ACTIONS.items() if action in names), Scope.ADMIN)
