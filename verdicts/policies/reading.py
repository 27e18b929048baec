"""Policies for people: what a gate asks in words, what changed, and what a change would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode

from catalog.models import Deployment, Revision
from runs.engine.checks import CHECKS
from verdicts.policies.evaluation import GateResult
from verdicts.policies.gates import SLOTS, Gate, GateKind
from verdicts.policies.models import PolicyVersion
from verdicts.policies.selectors import evidence_at, judged

SUITES = {
    "identity": "smoke",
    "stream": "smoke",
    "marker": "smoke",
    "chat": "smoke",
    "long": "long-context",
    "repeat": "long-context",
    "concurrency": "concurrency",
    "growth": "memory",
    "embeddings": "pooling",
    "rerank": "rerank-pooling",
}
MET = ("pass", "waived")


def asks(gate: Gate) -> str:
    """ "Long context, fresh of 131,072 tokens, direct layer, within 30 days"."""
    if gate.kind == GateKind.CAMPAIGN:
        what = f"A {gate.campaign} that passed, never a rehearsal"
    elif gate.kind == GateKind.IDENTITY:
        what = "The real model behind the name, before and after"
    elif gate.kind == GateKind.TRAFFIC:
        what = f"{gate.min_count:,} requests that a proxy reported as completed"
    else:
        what = CHECKS[gate.check].title if gate.check in CHECKS else gate.check
    parts = [what, *contract(gate)]
    return f"{', '.join(parts)}, within {gate.freshness_days} days"


def contract(gate: Gate) -> list[str]:
    parts = []
    if tokens := gate.params.get("tokens"):
        parts.append(f"{tokens:,} tokens")
    if clients := gate.params.get("clients"):
        parts.append("one client a slot" if clients == SLOTS else f"{clients} clients")
    if gate.kind != GateKind.CAMPAIGN:
        parts.append(f"{gate.layer} layer")
    if gate.min_count > 1 and gate.kind != GateKind.TRAFFIC:
        parts.append(f"{gate.min_count} runs in a row")
    if gate.ttft_max_ms is not None:
        parts.append(f"TTFT at most {gate.ttft_max_ms:,.0f} ms")
    if gate.decode_min_tps is not None:
        parts.append(f"decode at least {gate.decode_min_tps:,.1f} tok/s")
    if gate.kind == GateKind.MEMORY:
        parts.append("memory observed, no guard crossed")
    return parts


@dataclass(frozen=True, slots=True)
class Change:
    """From one version to the next, in words."""

    version: PolicyVersion
    lines: list[str]


def history(versions: Sequence[PolicyVersion]) -> list[Change]:
    """Newest first, each against the one before."""
    older = (*versions[1:], None)
    return [Change(new, changes(old, new)) for new, old in zip(versions, older, strict=False)]


def changes(old: PolicyVersion | None, new: PolicyVersion) -> list[str]:
    if old is None:
        return [f"The first version: {len(new.gates)} gates."]
    before = {gate.key: gate for gate in old.gate_list}
    after = {gate.key: gate for gate in new.gate_list}
    lines = [f"added: {gate.title}" for key, gate in after.items() if key not in before]
    lines += [f"removed: {gate.title}" for key, gate in before.items() if key not in after]
    for key, gate in after.items():
        if key in before and before[key] != gate:
            lines.append(f"{gate.title}: {told(before[key])} → {told(gate)}")
    for name in ("approvals_needed", "days_to_decide"):
        if (was := getattr(old, name)) != (now := getattr(new, name)):
            lines.append(f"{name.replace('_', ' ')}: {was} → {now}")
    return lines or ["nothing but its note"]


def told(gate: Gate) -> str:
    said = asks(gate)
    if gate.may_waive:
        said += ", may be waived"
    return said if gate.counts else f"{said}, does not count"


@dataclass(frozen=True, slots=True)
class Effect:
    """What a draft would change for one deployment: gates with their state before and after."""

    deployment: Deployment
    met_before: bool
    met_after: bool
    lines: list[str]


def preview(
    old: PolicyVersion, draft: PolicyVersion, deployments: Sequence[Deployment], at: datetime
) -> list[Effect]:
    """Only those for which something would change."""
    revisions = list(
        Revision.objects.filter(deployment__in=deployments, is_active=True).select_related(
            "deployment__artifact"
        )
    )
    evidence = evidence_at(revisions, at)
    effects = []
    for revision in revisions:
        before, after = (
            judged(version, revision, evidence[revision.pk], old.role, at).gates
            for version in (old, draft)
        )
        if lines := differences(before, after):
            effects.append(Effect(revision.deployment, met(before), met(after), lines))
    return effects


def differences(before: Sequence[GateResult], after: Sequence[GateResult]) -> list[str]:
    known = {result.key: result for result in before}
    lines = []
    for result in after:
        was = known.pop(result.key, None)
        if was is None:
            lines.append(f"{result.title}: new, {result.state}")
        elif was.state != result.state:
            lines.append(f"{result.title}: {was.state} → {result.state}")
    return lines + [f"{gone.title}: no longer asked (was {gone.state})" for gone in known.values()]


def met(gates: Sequence[GateResult]) -> bool:
    return all(gate.state in MET for gate in gates if gate.counts)


@dataclass(frozen=True, slots=True)
class Line:
    """One gate of a deployment on a page. `start`: where what is missing is begun, or empty."""

    gate: Gate
    result: GateResult
    asks: str
    start: str
    links: list[tuple[str, str]]


def lines_of(
    gates: Sequence[Gate], results: Sequence[GateResult], deployment: Deployment
) -> list[Line]:
    known = {gate.key: gate for gate in gates}
    return [
        Line(
            known[result.key],
            result,
            asks(known[result.key]),
            "" if result.state == "pass" else start_address(known[result.key], deployment),
            [(str(ref).capitalize(), address_of(ref.kind, ref.id)) for ref in result.evidence],
        )
        for result in results
    ]


def start_address(gate: Gate, deployment: Deployment) -> str:
    """The page that starts what the gate is missing."""
    if gate.kind == GateKind.CAMPAIGN:
        return address(
            "campaign-start", deployment=deployment.slug, kind=gate.campaign, layer=gate.layer
        )
    if gate.kind == GateKind.TRAFFIC:
        return address("traffic")
    suite = SUITES.get(gate.check or "identity", "contract")
    return address("run-start", deployment=deployment.slug, suite=suite, layer=gate.layer)


def address(name: str, **query: str) -> str:
    try:
        return f"{reverse(name)}?{urlencode(query)}"
    except NoReverseMatch:
        return ""


def address_of(kind: str, pk: int) -> str:
    try:
        return reverse(f"{kind}-detail", args=[pk])
    except NoReverseMatch:
        return ""
