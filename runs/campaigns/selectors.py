"""Reading campaigns: how they stand, and what they prove."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from runs.campaigns.models import OPEN, Campaign, Cycle, CycleState
from runs.campaigns.standing import CycleFact, Standing, Terms, standing

FACTS = (
    "number",
    "state",
    "finished_at",
    "outcome",
    "failure_class",
    "explanation",
    "requests",
    "completed",
    "rss_after_bytes",
)


@dataclass(frozen=True, slots=True)
class CampaignEvidence:
    """What a gate may ask about a campaign. Times in seconds of the wall clock.

    `digest` is SHA-256 over the terms and every cycle's result: it changes with the record.
    """

    campaign_id: int
    kind: str
    layer: str
    revision_fingerprint: str
    is_rehearsal: bool
    state: str
    explanation: str
    started_at: datetime
    finished_at: datetime | None
    required_s: int
    duration_s: int
    covered_s: float
    coverage: float | None
    longest_gap_s: float
    cycles_failed: int
    requests_completed: int
    digest: str


def open_campaigns() -> QuerySet[Campaign]:
    related = ("deployment", "revision", "endpoint", "host")
    return Campaign.objects.filter(state__in=OPEN).select_related(*related)


def cycle_facts(campaign: Campaign) -> list[CycleFact]:
    """Of every cycle that has a row; a missed one is known by having no outcome."""
    rows = Cycle.objects.filter(campaign=campaign).order_by("number").values(*FACTS)
    return [
        CycleFact(
            is_running=row.pop("state") == CycleState.RUNNING,
            through=slot_number(campaign, row.pop("finished_at")),
            **row,
        )
        for row in rows.iterator()
    ]


def slot_number(campaign: Campaign, at: datetime | None) -> int | None:
    """The slot that a moment lies in."""
    if at is None:
        return None
    return int((at - campaign.started_at).total_seconds() // campaign.terms["cycle_s"])


def standing_of(campaign: Campaign, now: datetime | None = None) -> Standing:
    """At `now`, or at its end when it is over."""
    until = campaign.finished_at or now or timezone.now()
    return standing(
        Terms.from_dict(campaign.terms),
        started_at=campaign.started_at,
        cycles=cycle_facts(campaign),
        now=until,
    )


def evidence_of(campaign: Campaign, at: datetime | None = None) -> CampaignEvidence:
    """As it stood at `at`, or at its end."""
    terms, facts = Terms.from_dict(campaign.terms), cycle_facts(campaign)
    seen = standing(
        terms,
        started_at=campaign.started_at,
        cycles=facts,
        now=campaign.finished_at or at or timezone.now(),
    )
    return CampaignEvidence(
        campaign_id=campaign.pk,
        kind=campaign.kind,
        layer=campaign.layer,
        revision_fingerprint=campaign.revision_fingerprint,
        is_rehearsal=campaign.is_rehearsal,
        state=campaign.state,
        explanation=campaign.explanation,
        started_at=campaign.started_at,
        finished_at=campaign.finished_at,
        required_s=terms.required_s,
        duration_s=terms.duration_s,
        covered_s=seen.covered_s,
        coverage=seen.coverage,
        longest_gap_s=seen.longest_gap_s,
        cycles_failed=seen.cycles_failed,
        requests_completed=seen.completed,
        digest=digest_of(campaign, facts),
    )


def digest_of(campaign: Campaign, facts: Iterable[CycleFact]) -> str:
    record = {
        "kind": campaign.kind,
        "layer": campaign.layer,
        "revision": campaign.revision_fingerprint,
        "terms": campaign.terms,
        "state": campaign.state,
        "cycles": [[f.number, f.outcome, f.failure_class, f.requests, f.completed] for f in facts],
    }
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
