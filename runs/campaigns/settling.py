"""From a cycle's finished run to its row: outcome, figures, and what changed since the last."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
from django.db.models import Q

from runs import claims
from runs.campaigns.models import Campaign, Cycle, CycleState, NoteKind
from runs.campaigns.notes import tell_note
from runs.campaigns.schedule import Slot
from runs.claims import Ending
from runs.memory.reading import read_series
from runs.models import HostLease, Outcome, Run, RunRequest, RunState
from runs.selectors import SHORT_AND_FRESH

SAME_MODEL = ("file", "digest", "version", "quantization", "size_bytes", "n_params")
LATE = "Its host was busy until its time was over, so it covers nothing."
NOBODY = "No worker took it in its time: none was running for this host."


def settle(cycle: Cycle, slot: Slot, *, is_slot_over: bool) -> None:
    """Bring a running cycle to its end, if there is one yet."""
    run = cycle.run
    if run is None:
        miss(cycle, "Its run was never stored.")
    elif run.state == RunState.FINISHED:
        late = run.started_at is None or run.started_at >= slot.ends_at
        if late and run.failure_class == "cancelled":
            miss(cycle, run.explanation)
        elif late:
            miss(cycle, LATE)
        else:
            finish(cycle, run)
    elif run.state == RunState.QUEUED and is_slot_over:
        why = why_waiting(run)
        if claims.finish_unclaimed(run.pk, Ending(Outcome.INCONCLUSIVE, "cancelled", why)):
            miss(cycle, why)


def why_waiting(run: Run) -> str:
    other = HostLease.objects.filter(host_id=run.host_id, run__isnull=False).first()
    return f"Run #{other.run_id} held its host until its time was over." if other else NOBODY


def miss(cycle: Cycle, why: str) -> None:
    Cycle.objects.filter(pk=cycle.pk, state=CycleState.RUNNING).update(
        state=CycleState.MISSED, explanation=why
    )


def finish(cycle: Cycle, run: Run) -> None:
    before = last_done(cycle)
    cycle.state = CycleState.DONE
    cycle.outcome, cycle.failure_class = run.outcome, run.failure_class
    cycle.explanation, cycle.worker = run.explanation, run.worker
    cycle.started_at, cycle.finished_at = run.started_at, run.finished_at
    take_figures(cycle, run)
    take_identity(cycle, run)
    compare_with_first(cycle)
    if before is not None:
        compare_with_last(cycle, before)
    cycle.save()


def last_done(cycle: Cycle) -> Cycle | None:
    done = Cycle.objects.filter(campaign_id=cycle.campaign_id, state=CycleState.DONE)
    return done.filter(number__lt=cycle.number).order_by("-number").first()


def take_figures(cycle: Cycle, run: Run) -> None:
    """Medians over this cycle's own requests only; a figure that nothing told stays empty."""
    asked = run.requests.exclude(label="calibration")
    cycle.requests = asked.count()
    cycle.completed = asked.filter(outcome=Outcome.CLEAN_PASS).count()
    short = [v for v in values(run, SHORT_AND_FRESH, "ttft_ms") if v is not None]
    cycle.ttft_ms = median(short) if short else None
    cycle.ttft_max_ms = max(short, default=None)
    alone = Q(outcome=Outcome.CLEAN_PASS, client_concurrency=1)
    decode = [v for v in values(run, alone, "decode_tps") if v is not None]
    cycle.decode_tps = median(decode) if decode else None
    memory: dict[str, Any] = run.report.get("memory") or {}
    if memory.get("figure") == "rss_bytes":
        cycle.rss_before_bytes = memory.get("first_bytes")
        cycle.rss_peak_bytes = memory.get("peak_bytes")
        cycle.rss_after_bytes = memory.get("last_bytes")
    waiting = read_series(run.pk, "requests_waiting", points=None)
    cycle.queued_max = int(np.nanmax(waiting.values)) if waiting else None


def values(run: Run, which: Q, name: str) -> list[float | None]:
    return list(RunRequest.objects.filter(which, run=run).values_list(name, flat=True))


def take_identity(cycle: Cycle, run: Run) -> None:
    facts: dict[str, Any] = (run.report.get("identity_before") or {}).get("facts") or {}
    cycle.identity = {key: facts[key] for key in SAME_MODEL if facts.get(key)}
    cycle.server_started_at = (facts.get("process") or {}).get("started_s")


def compare_with_first(cycle: Cycle) -> None:
    """Another file, digest or version is another revision: the campaign was about this one."""
    first = cycle.campaign.identity
    if not cycle.identity:
        return
    if not first:
        Campaign.objects.filter(pk=cycle.campaign_id, identity={}).update(identity=cycle.identity)
        return
    changed = [key for key in first.keys() & cycle.identity if first[key] != cycle.identity[key]]
    if not changed:
        return
    said = "; ".join(f"{k}: {first[k]} became {cycle.identity[k]}" for k in sorted(changed))[:500]
    cycle.outcome, cycle.failure_class = Outcome.FAIL, "identity_mismatch"
    cycle.explanation = f"What answers is not what this campaign began with. {said}."
    tell_note(cycle.campaign, NoteKind.IDENTITY_CHANGED, said, at=cycle.finished_at)


def compare_with_last(cycle: Cycle, before: Cycle) -> None:
    """A restart between two cycles is a crash until somebody shows otherwise: it costs budget."""
    if cycle.worker != before.worker and before.worker:
        said = f"Cycle {cycle.number} was measured by {cycle.worker}; before, by {before.worker}."
        tell_note(cycle.campaign, NoteKind.HANDED_OVER, said, at=cycle.started_at)
    if cycle.failure_class == "interrupted":
        tell_note(cycle.campaign, NoteKind.WORKER_LOST, cycle.explanation, at=cycle.finished_at)
    then, now = before.server_started_at, cycle.server_started_at
    if then is None or now is None or abs(then - now) < 1:
        return
    said = f"Cycle {cycle.number} found a server process that started after cycle {before.number}."
    tell_note(cycle.campaign, NoteKind.SERVER_RESTART, said, at=cycle.started_at)
    if cycle.outcome == Outcome.CLEAN_PASS:
        cycle.outcome, cycle.failure_class = Outcome.FAIL, "process_restarted"
        cycle.explanation = said
