"""Evidence that was never measured: rows that meet every gate of a policy, for tests."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from catalog.models import Deployment, Endpoint, Revision
from runs.campaigns.kinds import TERMS
from runs.campaigns.models import Campaign, Kind
from runs.models import Run
from verdicts.policies.gates import SLOTS, Gate, GateKind
from verdicts.policies.models import Role
from verdicts.policies.selectors import policy_at
from verdicts.tests.lab import add_run

VERIFIED = {"level": 5, "status": "verified", "sentence": "Its process has the file open."}


def report_of(*checks: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A run's report with these checks, everything else sound."""
    sound = {
        "checks": list(checks),
        "identity_before": VERIFIED,
        "identity_after": VERIFIED,
        "memory": {"figure": "rss_bytes", "peak_bytes": 2**30, "not_observed": "", "trip": None},
    }
    return {**sound, **changes}


def check(key: str, **figures: Any) -> dict[str, Any]:
    return {
        "key": key,
        "title": key,
        "outcome": "clean_pass",
        "failure_class": "",
        "explanation": "",
        "requests": [],
        "figures": figures,
    }


def meets(gate: Gate, revision: Revision) -> dict[str, Any]:
    """A check result that meets the gate."""
    figures: dict[str, Any] = {}
    if tokens := gate.params.get("tokens"):
        figures["prompt_tokens_reported"] = tokens
    if clients := gate.params.get("clients"):
        figures["clients_achieved"] = revision.parallel if clients == SLOTS else clients
    return check(gate.check or "identity", **figures)


def endpoint_of(deployment: Deployment, layer: str) -> Endpoint:
    found, _ = Endpoint.objects.get_or_create(
        deployment=deployment,
        layer=layer,
        defaults={"base_url": f"http://127.0.0.1:9/{layer}", "served_model": "x"},
    )
    return found


def meet_gates(
    deployment: Deployment, role: Role = Role.AGENT_ROUTE, at: datetime | None = None
) -> list[Run]:
    """Runs and campaigns that meet every gate of the role at `at`, made directly."""
    at = at or timezone.now()
    revision = deployment.revisions.get(is_active=True)
    gates = policy_at(role, at).gate_list
    runs = []
    for layer in ("direct", "gateway", "proxy"):
        checks = [
            meets(gate, revision)
            for gate in gates
            if gate.layer == layer and gate.kind not in (GateKind.CAMPAIGN, GateKind.TRAFFIC)
        ]
        most = max((g.min_count for g in gates if g.layer == layer and g.check), default=1)
        runs += [
            add_run(
                deployment,
                layer=layer,
                endpoint=endpoint_of(deployment, layer),
                report=report_of(*checks),
                finished_at=at,
            )
            for _ in range(most if checks else 0)
        ]
    for gate in gates:
        if gate.kind == GateKind.CAMPAIGN:
            passed_campaign(deployment, Kind(gate.campaign), at)
    return runs


def passed_campaign(deployment: Deployment, kind: Kind, at: datetime, **changes: Any) -> Campaign:
    terms, revision = TERMS[kind], deployment.revisions.get(is_active=True)
    started_at = at - timedelta(seconds=terms.duration_s)
    facts: dict[str, Any] = {
        "deployment": deployment,
        "revision": revision,
        "revision_fingerprint": revision.fingerprint,
        "endpoint": endpoint_of(deployment, "direct"),
        "host": deployment.host,
        "layer": "direct",
        "kind": kind,
        "terms": terms.as_dict(),
        "seed": 1,
        "state": "passed",
        "started_at": started_at,
        "ends_at": at,
        "finished_at": at,
    }
    return Campaign.objects.create(**{**facts, **changes})
