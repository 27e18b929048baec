"""What a gate may be shown: records of checks and campaigns, with everything that can void them.

Pure. A record says where it comes from; whether it counts is decided in `evaluation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Ref:
    """Where evidence is kept, with SHA-256 over its raw record."""

    kind: str  # run | campaign
    id: int
    digest: str

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a run found about who answers, before and after."""

    before: str = "unverifiable"
    after: str = "unverifiable"
    sentence: str = ""

    @property
    def is_verified(self) -> bool:
        return self.before == self.after == "verified"


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """One check of one finished run. Times in ms, client-measured, of its fresh requests alone."""

    ref: Ref
    revision_fingerprint: str
    layer: str
    check: str
    outcome: str
    failure_class: str
    explanation: str
    run_outcome: str
    run_failure_class: str
    finished_at: datetime
    is_skipped: bool = False
    tokens: int | None = None  # that the prompt really had
    clients: int | None = None  # that were really open at one moment
    ttft_ms: float | None = None  # median
    decode_tps: float | None = None  # median
    identity: Identity = field(default_factory=Identity)
    is_memory_observed: bool = False
    is_memory_tripped: bool = False
    origin: str = "client"


@dataclass(frozen=True, slots=True)
class CampaignRecord:
    """One campaign as it stood."""

    ref: Ref
    kind: str
    revision_fingerprint: str
    layer: str
    state: str
    explanation: str
    is_rehearsal: bool
    started_at: datetime
    finished_at: datetime | None
    required_s: int
    duration_s: int
    covered_s: float
    coverage: float | None
    completed: int


@dataclass(frozen=True, slots=True)
class TrafficRecord:
    """Requests that a proxy reported for one hour, by what they count as. Origin: server."""

    revision_fingerprint: str
    layer: str
    start: datetime
    completed: int
    not_completed: int


@dataclass(frozen=True, slots=True)
class WaiverRecord:
    """A waiver that held at the moment of the evaluation."""

    id: int
    role: str
    gate_key: str
    person: str
    reason: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: one revision for one role."""

    role: str
    policy_number: int
    revision_fingerprint: str
    slots: int | None
    context_total: int | None = None
    context_per_slot: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that there was at one moment; records of other revisions do no harm."""

    checks: tuple[CheckRecord, ...] = ()
    campaigns: tuple[CampaignRecord, ...] = ()
    waivers: tuple[WaiverRecord, ...] = ()
    traffic: tuple[TrafficRecord, ...] = ()


def known(value: Any) -> int | None:
    """A whole number that a report holds, or nothing."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
