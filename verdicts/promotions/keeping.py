"""An evaluation that somebody acts on is kept once, and what it counts stands in the ledger."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from django.urls import NoReverseMatch, reverse

from verdicts.ledger.models import Entry, EntryKind
from verdicts.ledger.services import append
from verdicts.policies.evidence import Ref
from verdicts.promotions.evaluating import Standing, as_body
from verdicts.promotions.models import EvaluationRecord

PAGES = {"run": "run-detail", "campaign": "campaign-detail"}


def keep(standing: Standing, now: datetime) -> EvaluationRecord:
    """Stored by its digest: as it read when it was first seen."""
    kept, is_new = EvaluationRecord.objects.get_or_create(
        digest=standing.digest, defaults={"body": as_body(standing), "created_at": now}
    )
    if is_new:
        record_evidence(standing)
    return kept


def record_evidence(standing: Standing) -> None:
    """One entry for each run or campaign that meets a gate, once for each content it has."""
    met: dict[Ref, list[str]] = defaultdict(list)
    for gate in standing.counting:
        if gate.state == "pass":
            for ref in gate.evidence:
                met[ref].append(gate.title)
    for ref, titles in met.items():
        if not is_recorded(ref, standing):
            enter(ref, titles, standing)


def is_recorded(ref: Ref, standing: Standing) -> bool:
    entries = Entry.objects.filter(
        kind=EntryKind.EVIDENCE, subject_kind=ref.kind, subject_id=ref.id
    )
    return entries.filter(payload__digest=ref.digest, payload__role=standing.role.value).exists()


def enter(ref: Ref, titles: list[str], standing: Standing) -> None:
    append(
        kind=EntryKind.EVIDENCE,
        actor=None,
        subject_kind=ref.kind,
        subject_id=ref.id,
        title=f"Counted for {standing.deployment} as {standing.role.label}: {ref}",
        path=page_of(ref.kind, ref.id),
        payload={
            "digest": ref.digest,
            "gates": titles,
            "reason": f"It meets: {', '.join(titles)}.",
            "deployment": standing.deployment.slug,
            "revision": standing.revision.number,
            "fingerprint": standing.revision.fingerprint,
            "role": standing.role.value,
            "policy": str(standing.policy_version),
        },
    )


def page_of(kind: str, number: int) -> str:
    """The address of a piece of evidence; nothing where it has no page."""
    try:
        return reverse(PAGES[kind], args=[number])
    except (KeyError, NoReverseMatch):
        return ""
