"""One example or more of each action, in the browser and through the API.

A new action without an example here, or a new page that changes something without one, fails
the suite. `{run}` and the like are filled in with what the tests made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from people.access import Action


@dataclass(frozen=True, slots=True)
class Example:
    """`name` is the URL name of a page; empty for the API, whose address is below /api/v1/."""

    action: Action
    address: str
    name: str = ""
    method: str = "post"
    form: str = ""


EXAMPLES = (
    Example(Action.VIEW, "/", "inventory", "get"),
    Example(Action.VIEW, "runs/", method="get"),
    Example(Action.START_RUN, "/runs/start/", "run-start", form="deployment=toy-llama-cpp"),
    Example(Action.START_RUN, "/runs/{run}/repeat/", "run-repeat"),
    Example(Action.START_RUN, "runs/{run}/repeat/"),
    Example(Action.CANCEL_RUN, "/runs/{run}/cancel/", "run-cancel"),
    Example(Action.CANCEL_RUN, "runs/{run}/cancel/"),
    Example(Action.REGISTER_DEPLOYMENT, "/deployments/new/", "deployment-new"),
    Example(
        Action.REGISTER_DEPLOYMENT, "/deployments/toy-llama-cpp/revisions/new/", "revision-new"
    ),
    Example(Action.REGISTER_DEPLOYMENT, "deployments/toy-llama-cpp/revisions/"),
    Example(Action.DISCOVER, "/deployments/discover/", "deployment-discover"),
    Example(Action.EDIT_ENDPOINT, "/deployments/toy-llama-cpp/endpoints/new/", "endpoint-new"),
    Example(Action.EDIT_ENDPOINT, "deployments/toy-llama-cpp/endpoints/"),
    Example(Action.EDIT_SUITE, "/suites/new/", "suite-new"),
    Example(Action.EDIT_SUITE, "suites/"),
    Example(Action.EDIT_LAUNCH_PROFILE, "/launch-profiles/new/", "launch-profile-new"),
    Example(Action.ADD_CLAIM, "/claims/new/", "claim-new"),
    Example(Action.ADD_CLAIM, "claims/"),
    Example(Action.EDIT_WEBHOOK, "/webhooks/", "webhooks"),
    Example(Action.REQUEST_PROMOTION, "/deployments/toy-llama-cpp/promote/", "promotion-new"),
    Example(Action.REQUEST_PROMOTION, "promotions/"),
    Example(Action.DECIDE, "/deployments/toy-llama-cpp/verdict/block/", "verdict-change"),
    Example(Action.DECIDE, "verdicts/"),
    Example(Action.EDIT_WEBHOOK, "webhooks/"),
    Example(Action.PIN_BASELINE, "/compare/baseline/{run}/", "baseline-pin"),
    Example(Action.VERIFY_LEDGER, "/ledger/verify/", "ledger-verify"),
    Example(Action.EDIT_POLICY, "/policies/agent_route/edit/", "policy-edit"),
    Example(Action.EDIT_POLICY, "policies/"),
    Example(Action.WAIVE, "/deployments/toy-llama-cpp/gates/agent_route/waive/", "gate-waive"),
    Example(Action.WAIVE, "waivers/"),
    Example(Action.VERIFY_LEDGER, "ledger/verify/"),
    Example(Action.START_SWEEP, "/sweeps/new/", "sweep-new", form="deployment=toy-llama-cpp"),
    Example(
        Action.START_CAMPAIGN, "/campaigns/new/", "campaign-start", form="deployment=toy-llama-cpp"
    ),
    Example(Action.START_CAMPAIGN, "campaigns/"),
    Example(Action.CONTROL_CAMPAIGN, "/campaigns/{campaign}/pause/", "campaign-pause"),
    Example(Action.CONTROL_CAMPAIGN, "campaigns/{campaign}/end/"),
    Example(Action.CONTROL_SWEEP, "/sweeps/{sweep}/cancel/", "sweep-cancel"),
    Example(Action.START_SWEEP, "sweeps/"),
    Example(Action.CONTROL_SWEEP, "sweeps/{sweep}/cancel/"),
    Example(Action.IMPORT_TRAFFIC, "/traffic/upload/", "traffic-upload"),
    Example(Action.EDIT_FOLLOW_UP, "/follow-ups/new/", "follow-up-new"),
    Example(Action.EDIT_FOLLOW_UP, "follow-ups/"),
    Example(Action.IMPORT_TRAFFIC, "deployments/toy-llama-cpp/traffic/?source=nginx"),
)
# Pages that change only what is the person's own, so that every role may.
OWN = {
    "login", "logout", "password_change", "tokens", "token-revoke", "inbox-read", "subscriptions",
}  # fmt: skip
# Pages of an action that has an example above, about things that these tests do not make.
SAME_RULE = {
    "suite-edit": Action.EDIT_SUITE,
    "suite-restore": Action.EDIT_SUITE,
    "launch-profile-edit": Action.EDIT_LAUNCH_PROFILE,
    "webhook-switch": Action.EDIT_WEBHOOK,
    "delivery-again": Action.EDIT_WEBHOOK,
    "baseline-unpin": Action.PIN_BASELINE,
    "waiver-withdraw": Action.WAIVE,
    "promotion-decide": Action.DECIDE,
    "promotion-rollback": Action.DECIDE,
    "promotion-answer": Action.REQUEST_PROMOTION,
    "promotion-withdraw": Action.REQUEST_PROMOTION,
    "follow-up-comment": Action.EDIT_FOLLOW_UP,
    "follow-up-plan": Action.EDIT_FOLLOW_UP,
    "follow-up-close": Action.EDIT_FOLLOW_UP,
    "follow-up-reopen": Action.EDIT_FOLLOW_UP,
    "campaign-resume": Action.CONTROL_CAMPAIGN,
    "campaign-extend": Action.CONTROL_CAMPAIGN,
    "campaign-end": Action.CONTROL_CAMPAIGN,
    "sweep-pause": Action.CONTROL_SWEEP,
    "sweep-resume": Action.CONTROL_SWEEP,
}
# The API's own bodies are JSON, but for these.
KINDS = {"deployments/toy-llama-cpp/traffic/?source=nginx": "application/x-ndjson"}
BODIES: dict[str, dict[str, Any]] = {
    "deployments/toy-llama-cpp/revisions/": {"parallel": 7},
    "deployments/toy-llama-cpp/endpoints/": {
        "layer": "proxy", "base_url": "http://mac/v1", "served_model": "toy",
    },
    "suites/": {"key": "own", "name": "Own", "checks": [{"key": "chat"}]},
    "follow-ups/": {"text": "Ask again at night."},
    "claims/": {"subject": "fast", "source": "a forum"},
    "sweeps/": {"deployment": "toy-llama-cpp", "client_concurrency": [1]},
    "campaigns/": {"deployment": "toy-llama-cpp", "kind": "canary"},
    "policies/": {"role": "agent_route", "note": "why", "gates": []},
    "waivers/": {
        "deployment": "toy-llama-cpp", "role": "agent_route", "gate_key": "json", "reason": "x",
        "expires_at": "2030-01-01T00:00:00Z",
    },
    "promotions/": {"deployment": "toy-llama-cpp", "role": "agent_route", "reason": "better"},
    "verdicts/": {"deployment": "toy-llama-cpp", "change": "reject", "reason": "slow"},
    "webhooks/": {
        "name": "chat", "url": "http://chat/x", "secret_env": "S", "kinds": ["run_finished"],
    },
}  # fmt: skip
