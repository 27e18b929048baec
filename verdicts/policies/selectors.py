"""From rows to evidence, and the evaluation of a revision at any moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import Q

from catalog.models import Deployment, Revision
from runs.campaigns.models import Campaign
from runs.campaigns.selectors import evidence_of as campaign_evidence
from runs.models import Run, RunRequest, RunState
from runs.traffic.models import Hour
from verdicts.ledger.chain import digest
from verdicts.policies.evaluation import Evaluation, GateResult, evaluate
from verdicts.policies.evidence import (
    CampaignRecord,
    CheckRecord,
    Evidence,
    Identity,
    Ref,
    Subject,
    TrafficRecord,
    WaiverRecord,
    known,
)
from verdicts.policies.gates import SHIPPED, SHIPPED_BY
from verdicts.policies.models import PolicyVersion, Role, Waiver

TRAFFIC_DAYS = 31
NEWEST_RUNS = 60  # of a revision: what is older has been measured again since
RUN_FIELDS = (
    "id", "revision_id", "revision_fingerprint", "layer", "outcome", "failure_class",
    "finished_at", "code_version", "report", "suite__key", "suite__version",
)  # fmt: skip
Requests = dict[int, dict[int, tuple[str, float | None, float | None]]]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation with the policy version that it is by."""

    gates: tuple[GateResult, ...]
    digest: str
    policy_version: PolicyVersion


def policy_at(role: str, at: datetime) -> PolicyVersion:
    """The version that held at that moment; before the first one, the gates as shipped."""
    versions = PolicyVersion.objects.filter(role=role, created_at__lte=at)
    return versions.order_by("-number").first() or shipped(role, at)


def shipped(role: str, at: datetime) -> PolicyVersion:
    """Not stored: what holds until somebody stores a version."""
    gates = [gate.as_dict() for gate in SHIPPED[role]]
    return PolicyVersion(
        role=role, number=0, gates=gates, author_name=SHIPPED_BY, note="as shipped", created_at=at
    )


def evaluate_revision(
    *, deployment: Deployment, revision: Revision, role: Role, at: datetime
) -> Evaluated:
    """How the revision stood for the role at that moment."""
    policy = policy_at(role, at)
    evidence = evidence_at([revision], at)[revision.pk]
    found = judged(policy, revision, evidence, role, at)
    return Evaluated(found.gates, found.digest, policy)


def judged(
    policy: PolicyVersion, revision: Revision, evidence: Evidence, role: str, at: datetime
) -> Evaluation:
    subject = Subject(
        role=role,
        policy_number=policy.number,
        revision_fingerprint=revision.fingerprint,
        slots=revision.parallel,
        context_total=None if revision.extra.get("kv_unified") else revision.context_total,
        context_per_slot=revision.context_per_slot,
    )
    waivers = tuple(w for w in evidence.waivers if w.role == role)
    ours = replace(evidence, waivers=waivers)
    return evaluate(policy.gate_list, ours, subject, at)


def evidence_at(revisions: Iterable[Revision], at: datetime) -> dict[int, Evidence]:
    """By revision, all that was over by then; a handful of queries for any number of them."""
    ids = [revision.pk for revision in revisions]
    checks, campaigns, waivers = check_records(ids, at), campaign_records(ids, at), waived(ids, at)
    traffic = traffic_records(ids, at)
    return {
        pk: Evidence(
            tuple(checks[pk]), tuple(campaigns[pk]), tuple(waivers[pk]), tuple(traffic[pk])
        )
        for pk in ids
    }


# --- runs ---


def check_records(ids: list[int], at: datetime) -> dict[int, list[CheckRecord]]:
    """Of runs of their own: what a campaign's cycles found counts through the campaign."""
    rows = Run.objects.filter(
        revision__in=ids, state=RunState.FINISHED, finished_at__lte=at, cycle__isnull=True
    ).order_by("-pk")
    newest: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.values(*RUN_FIELDS):
        if len(newest[row["revision_id"]]) < NEWEST_RUNS:
            newest[row["revision_id"]].append(row)
    requests = request_figures([row["id"] for rows in newest.values() for row in rows])
    return defaultdict(
        list,
        {
            pk: [r for row in rows for r in records_of(row, requests.get(row["id"], {}))]
            for pk, rows in newest.items()
        },
    )


def request_figures(run_ids: list[int]) -> Requests:
    """By run and index: cache, TTFT in ms, decode in tok/s."""
    rows = RunRequest.objects.filter(run__in=run_ids, outcome="clean_pass").order_by()
    found: Requests = defaultdict(dict)
    for run, index, cache, ttft_ms, decode_tps in rows.values_list(
        "run_id", "index", "cache", "ttft_ms", "decode_tps"
    ):
        found[run][index] = (cache, ttft_ms, decode_tps)
    return found


def records_of(
    row: dict[str, Any], requests: dict[int, tuple[str, float | None, float | None]]
) -> list[CheckRecord]:
    report = row["report"] or {}
    memory = report.get("memory") or {}
    ref = Ref("run", row["id"], digest({**row, "finished_at": row["finished_at"].isoformat()}))
    checks = report.get("checks") or []
    return [
        CheckRecord(
            ref=ref,
            revision_fingerprint=row["revision_fingerprint"],
            layer=row["layer"],
            check=check["key"],
            outcome=check["outcome"],
            failure_class=check["failure_class"],
            explanation=check["explanation"],
            run_outcome=row["outcome"],
            run_failure_class=row["failure_class"],
            finished_at=row["finished_at"],
            is_skipped=bool(check["figures"].get("skipped")),
            tokens=tokens_of(check["figures"]),
            clients=known(check["figures"].get("clients_achieved")),
            ttft_ms=middle(check, requests, 1),
            decode_tps=middle(check, requests, 2),
            identity=identity_of(report),
            is_memory_observed=bool(memory.get("peak_bytes")) and not memory.get("not_observed"),
            is_memory_tripped=bool(memory.get("trip")),
        )
        for check in checks
    ]


def tokens_of(figures: dict[str, Any]) -> int | None:
    """What the prompt really had: by the server's count where it told one."""
    names = ("prompt_tokens_reported", "prompt_tokens_sent", "prompt_tokens")
    return next((n for name in names if (n := known(figures.get(name)))), None)


def middle(
    check: dict[str, Any],
    requests: dict[int, tuple[str, float | None, float | None]],
    place: int,
) -> float | None:
    """Median over the check's fresh requests; an exact repeat is never one."""
    rows = [requests[index] for index in check["requests"] if index in requests]
    values = [row[place] for row in rows if row[0] == "fresh"]
    found = [float(value) for value in values if isinstance(value, int | float)]
    return median(found) if found else None


def identity_of(report: dict[str, Any]) -> Identity:
    before, after = report.get("identity_before") or {}, report.get("identity_after") or {}
    return Identity(
        before.get("status", "unverifiable"),
        after.get("status", "unverifiable"),
        after.get("sentence") or before.get("sentence", ""),
    )


# --- campaigns and waivers ---


def campaign_records(ids: list[int], at: datetime) -> dict[int, list[CampaignRecord]]:
    found: dict[int, list[CampaignRecord]] = defaultdict(list)
    for campaign in Campaign.objects.filter(revision__in=ids, started_at__lte=at).order_by("pk"):
        if campaign.finished_at is not None and campaign.finished_at > at:
            campaign.finished_at, campaign.state = None, "running"  # as it was then
        told = campaign_evidence(campaign, at)
        found[campaign.revision_id].append(
            CampaignRecord(
                ref=Ref("campaign", campaign.pk, told.digest),
                kind=told.kind,
                revision_fingerprint=told.revision_fingerprint,
                layer=told.layer,
                state=told.state,
                explanation=told.explanation,
                is_rehearsal=told.is_rehearsal,
                started_at=told.started_at,
                finished_at=told.finished_at,
                required_s=told.required_s,
                duration_s=told.duration_s,
                covered_s=told.covered_s,
                coverage=told.coverage,
                completed=told.requests_completed,
            )
        )
    return found


def waived(ids: list[int], at: datetime) -> dict[int, list[WaiverRecord]]:
    """Waivers that held then."""
    held = Waiver.objects.filter(
        Q(withdrawn_at=None) | Q(withdrawn_at__gt=at),
        revision__in=ids,
        created_at__lte=at,
        expires_at__gt=at,
    )
    found: dict[int, list[WaiverRecord]] = defaultdict(list)
    for waiver in held:
        found[waiver.revision_id].append(
            WaiverRecord(
                waiver.pk,
                waiver.role,
                waiver.gate_key,
                waiver.person_name,
                waiver.reason,
                waiver.expires_at,
            )
        )
    return found


def traffic_records(ids: list[int], at: datetime) -> dict[int, list[TrafficRecord]]:
    """Hours with reported requests, of the last weeks."""
    rows = Hour.objects.filter(
        revision__in=ids, start__gte=at - timedelta(days=TRAFFIC_DAYS), start__lte=at
    ).order_by("start")
    found: dict[int, list[TrafficRecord]] = defaultdict(list)
    for row in rows.select_related("revision"):
        found[row.revision_id].append(
            TrafficRecord(
                row.revision.fingerprint,
                row.layer,
                row.start,
                row.completed,
                row.not_completed,
            )
        )
    return found
