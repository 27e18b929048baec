"""Evaluating a policy: each gate's state, sentence and evidence. Pure, so that any past moment can
be computed again. No data never passes, and nothing passes that was not measured for this very
revision, through this very layer, under this very contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from verdicts.ledger.chain import digest
from verdicts.policies.evidence import (
    CampaignRecord,
    CheckRecord,
    Evidence,
    Ref,
    Subject,
    TrafficRecord,
    WaiverRecord,
)
from verdicts.policies.gates import SLOTS, Gate, GateKind

CLEAN = "clean_pass"
SAME_SIZE = 0.01  # a prompt may be a hundredth shorter, for the room that the answer needs
EARLIER = {"gateway": ("direct",), "proxy": ("direct",)}
DAY_S = 86400
MOSTLY = 0.99  # of reported requests that were decided


@dataclass(frozen=True, slots=True)
class GateResult:
    """How one gate stands: pass, fail, missing, stale, inconclusive or waived."""

    key: str
    title: str
    state: str
    sentence: str
    evidence: tuple[Ref, ...] = ()
    counts: bool = True

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`digest` changes with the policy, the revision, any gate's state and its evidence; time
    alone changes nothing until it makes something stale."""

    gates: tuple[GateResult, ...]
    digest: str


def evaluate(
    gates: Sequence[Gate], evidence: Evidence, subject: Subject, now: datetime
) -> Evaluation:
    """Each gate in its order."""
    waivers = {waiver.gate_key: waiver for waiver in evidence.waivers}
    results = tuple(
        waived(judge(gate, evidence, subject, now), gate, waivers.get(gate.key)) for gate in gates
    )
    said = [
        subject.role,
        subject.policy_number,
        subject.revision_fingerprint,
        [[r.key, r.state, r.counts, [asdict(ref) for ref in r.evidence]] for r in results],
        sorted([w.id, w.gate_key] for w in evidence.waivers),
    ]
    return Evaluation(results, digest(said))


def judge(gate: Gate, evidence: Evidence, subject: Subject, now: datetime) -> GateResult:
    if gate.kind == GateKind.CAMPAIGN:
        state, sentence, refs = judge_campaign(gate, evidence.campaigns, subject, now)
    elif gate.kind == GateKind.TRAFFIC:
        state, sentence, refs = judge_traffic(gate, evidence.traffic, subject, now)
    elif missing := earlier_layer_missing(gate, evidence.checks, subject):
        state, sentence, refs = "missing", missing, ()
    elif gate.params.get("clients") == SLOTS and (unfit := unfit_slots(subject)):
        state, sentence, refs = "inconclusive", unfit, ()
    else:
        state, sentence, refs = judge_checks(gate, evidence.checks, subject, now)
    return GateResult(gate.key, gate.title, state, sentence, refs, gate.counts)


def waived(result: GateResult, gate: Gate, waiver: WaiverRecord | None) -> GateResult:
    """A waiver never hides what was found; a gate that passes needs none."""
    if waiver is None or not gate.may_waive or result.state == "pass":
        return result
    said = (
        f"Waived by {waiver.person} until {waiver.expires_at:%Y-%m-%d}: {waiver.reason} "
        f"Without it: {result.state}. {result.sentence}"
    )
    return replace(result, state="waived", sentence=said)


Found = tuple[str, str, tuple[Ref, ...]]

# --- checks ---


def earlier_layer_missing(gate: Gate, records: Sequence[CheckRecord], subject: Subject) -> str:
    """A later layer cannot be counted before an earlier one."""
    for layer in EARLIER.get(gate.layer, ()):
        if not any(
            r.layer == layer
            and r.revision_fingerprint == subject.revision_fingerprint
            and r.outcome == r.run_outcome == CLEAN
            and not r.is_skipped
            for r in records
        ):
            return f"The {layer} layer comes first: it has no clean run of this revision."
    return ""


def unfit_slots(subject: Subject) -> str:
    """Why as many clients as slots cannot be told, or why the arithmetic does not hold."""
    if subject.slots is None:
        return "How many slots the revision has is not recorded."
    total, each = subject.context_total, subject.context_per_slot
    if total and each and total != subject.slots * each:
        return (
            f"{subject.slots} slots x {each:,} tokens = {subject.slots * each:,}, but the total "
            f"is recorded as {total:,}."
        )
    return ""


def judge_checks(
    gate: Gate, records: Sequence[CheckRecord], subject: Subject, now: datetime
) -> Found:
    """The newest record that tells something decides; older ones only add to the count."""
    asked = sorted(
        (r for r in records if matches(gate, r, subject)),
        key=lambda r: (r.finished_at, r.ref.id),
        reverse=True,
    )
    telling = [r for r in asked if "inconclusive" not in (r.outcome, r.run_outcome)]
    if not telling:
        return nothing_told(gate, asked, subject)
    newest = telling[0]
    if fault := fault_of(gate, newest):
        return fault, sentence_of(gate, fault, newest, now), (newest.ref,)
    return counted(gate, telling, now)


def matches(gate: Gate, record: CheckRecord, subject: Subject) -> bool:
    """Same revision, layer and contract: at least the size and the clients that are asked for."""
    if record.revision_fingerprint != subject.revision_fingerprint or record.is_skipped:
        return False
    if record.layer != gate.layer or record.origin != "client":
        return False
    if gate.kind == GateKind.IDENTITY:
        return record.check == "identity"
    if record.check != gate.check:
        return False
    tokens, clients = gate.params.get("tokens"), clients_asked(gate, subject)
    if tokens is not None and (record.tokens or 0) < tokens * (1 - SAME_SIZE):
        return False
    return clients is None or (record.clients or 0) >= clients


def clients_asked(gate: Gate, subject: Subject) -> int | None:
    asked = gate.params.get("clients")
    return subject.slots if asked == SLOTS else asked


def fault_of(gate: Gate, record: CheckRecord) -> str:
    """fail or inconclusive for what cannot count; nothing for a sound record."""
    if gate.kind == GateKind.IDENTITY and not record.identity.is_verified:
        return "fail" if "mismatch" in (record.identity.before, record.identity.after) else (
            "inconclusive"
        )  # fmt: skip
    if gate.kind == GateKind.MEMORY and record.is_memory_tripped:
        return "fail"
    if record.outcome in ("fail", "degraded"):
        return "fail"
    if record.outcome != CLEAN or record.run_outcome != CLEAN:
        return "inconclusive"
    if gate.kind == GateKind.MEMORY and not record.is_memory_observed:
        return "inconclusive"
    return "fail" if beyond(gate, record) else ""


def beyond(gate: Gate, record: CheckRecord) -> str:
    """Which threshold is not met, in words."""
    if gate.ttft_max_ms is not None and (record.ttft_ms or float("inf")) > gate.ttft_max_ms:
        seen = f"{record.ttft_ms:,.0f} ms" if record.ttft_ms else "not measured"
        return f"TTFT is {seen}; {gate.ttft_max_ms:,.0f} ms are allowed."
    if gate.decode_min_tps is not None and (record.decode_tps or 0) < gate.decode_min_tps:
        seen = f"{record.decode_tps:,.1f} tok/s" if record.decode_tps else "not measurable"
        return f"Decode is {seen}; {gate.decode_min_tps:,.1f} tok/s are needed."
    return ""


def sentence_of(gate: Gate, fault: str, record: CheckRecord, now: datetime) -> str:
    said = record.explanation or beyond(gate, record) or record.identity.sentence
    when = f"{str(record.ref).capitalize()}, {age(record.finished_at, now)}"
    if fault == "fail":
        cause = record.failure_class.replace("_", " ") or "not met"
        return f"{when}: {cause}. {said}".strip()
    if record.outcome == CLEAN and record.run_outcome != CLEAN:
        cause = record.run_failure_class.replace("_", " ")
        return f"{when}: the check passed, but its run ended {record.run_outcome} ({cause})."
    return f"{when}: it tells nothing. {said}".strip()


def counted(gate: Gate, telling: Sequence[CheckRecord], now: datetime) -> Found:
    """Sound records, newest first, until one that is not."""
    sound: list[CheckRecord] = []
    for record in telling:
        if fault_of(gate, record):
            break
        sound.append(record)
    fresh = [r for r in sound if age_days(r.finished_at, now) <= gate.freshness_days]
    runs = {r.ref.id for r in fresh}
    refs = tuple(dict.fromkeys(r.ref for r in fresh[: max(gate.min_count, 1)]))
    if not fresh:
        newest = sound[0]
        return "stale", (
            f"{str(newest.ref).capitalize()} passed {age(newest.finished_at, now)}; "
            f"{gate.freshness_days} days are the most."
        ), (newest.ref,)  # fmt: skip
    if len(runs) < gate.min_count:
        return "missing", (
            f"{len(runs)} of {gate.min_count} clean runs within {gate.freshness_days} days."
        ), refs  # fmt: skip
    return (
        "pass",
        f"{figures_of(fresh[0])}, {age(fresh[0].finished_at, now)} (n={len(runs)}).",
        refs,
    )


def figures_of(record: CheckRecord) -> str:
    parts = [f"{str(record.ref).capitalize()} passed"]
    if record.tokens:
        parts.append(f"{record.tokens:,} tokens")
    if record.clients:
        parts.append(f"{record.clients} at one moment")
    if record.ttft_ms is not None:
        parts.append(f"TTFT {record.ttft_ms:,.0f} ms")
    return ", ".join(parts)


def nothing_told(gate: Gate, asked: Sequence[CheckRecord], subject: Subject) -> Found:
    if asked:
        newest = asked[0]
        return "inconclusive", f"{newest.ref}: {newest.explanation}", (newest.ref,)
    contract = gate.check.replace("_", " ") or "identity"
    if tokens := gate.params.get("tokens"):
        contract = f"{contract} of {tokens:,} tokens, fresh"
    if clients := clients_asked(gate, subject):
        contract = f"{contract} with {clients} clients"
    return "missing", f"No {contract} through the {gate.layer} layer at this revision yet.", ()


# --- campaigns ---


def judge_campaign(
    gate: Gate, records: Sequence[CampaignRecord], subject: Subject, now: datetime
) -> Found:
    ours = [
        r
        for r in records
        if r.revision_fingerprint == subject.revision_fingerprint and r.kind == gate.campaign
    ]
    real = [r for r in ours if counts_in_time(r)]
    over = [r for r in real if r.finished_at is not None and r.state in ("passed", "failed")]
    if not over:
        return "missing", not_yet(gate, ours, real), ()
    newest = max(over, key=lambda r: (r.finished_at or now, r.ref.id))
    ended = newest.finished_at or now
    when = f"{str(newest.ref).capitalize()}, ended {age(ended, now)}"
    if newest.state == "failed":
        return "fail", f"{when}: {newest.explanation}", (newest.ref,)
    if age_days(ended, now) > gate.freshness_days:
        most = f"{gate.freshness_days} days are the most"
        return "stale", f"{when}: it passed, but {most}.", (newest.ref,)
    said = (
        f"{when}: {newest.covered_s / 3600:,.1f} h covered of {newest.duration_s / 3600:,.1f} h, "
        f"{newest.completed:,} requests completed."
    )
    return "pass", said, (newest.ref,)


def counts_in_time(record: CampaignRecord) -> bool:
    """Never a rehearsal, by its mark or by its length."""
    return not record.is_rehearsal and record.duration_s >= record.required_s


def not_yet(gate: Gate, ours: Sequence[CampaignRecord], real: Sequence[CampaignRecord]) -> str:
    if going_on := next((r for r in real if r.state in ("running", "paused")), None):
        share = going_on.covered_s / going_on.duration_s
        return f"{str(going_on.ref).capitalize()} is {going_on.state}: {share:.0%} covered so far."
    if real:
        return f"{str(real[-1].ref).capitalize()} was ended early, so it proved nothing."
    if ours:
        return f"Only a rehearsal: {ours[-1].ref}. A rehearsal never counts."
    return f"No {gate.campaign} of this revision yet."


# --- traffic ---


def judge_traffic(
    gate: Gate, records: Sequence[TrafficRecord], subject: Subject, now: datetime
) -> Found:
    """Enough completed ones, and nearly all of them. Without references, since every hour adds
    some: an approval does not turn stale by that."""
    ours = [
        r
        for r in records
        if r.revision_fingerprint == subject.revision_fingerprint
        and r.layer == gate.layer
        and 0 <= age_days(r.start, now) <= gate.freshness_days
    ]
    completed = sum(record.completed for record in ours)
    decided = completed + sum(record.not_completed for record in ours)
    within = f"within {gate.freshness_days} days"
    if not decided:
        return "missing", f"Nothing was reported for the {gate.layer} layer {within}.", ()
    said = f"{completed:,} of {decided:,} reported requests completed {within}"
    if completed < MOSTLY * decided:
        return "fail", f"{said}; {MOSTLY:.0%} are needed.", ()
    if completed < gate.min_count:
        return "missing", f"{said}; {gate.min_count:,} are needed.", ()
    return "pass", f"{said} ({completed / decided:.2%}), as the proxy reported it.", ()


# --- words ---


def age_days(at: datetime, now: datetime) -> float:
    return (now - at).total_seconds() / DAY_S


def age(at: datetime, now: datetime) -> str:
    days = age_days(at, now)
    if days < 1:
        return f"{max(0, days) * 24:,.0f} h ago"
    return f"{days:,.0f} d ago"
