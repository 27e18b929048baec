"""One look at every open campaign: settle, note what the clocks tell, begin what is due, decide.

Every step is safe to do twice, late, or in two schedulers at once: a cycle is unique by campaign
and number, and every change of state asks for the state before.
"""

from __future__ import annotations

import logging
from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.timezone import localtime

from runs import doorbell, signals
from runs.campaigns.clock import Reading, jump_s, read_clocks
from runs.campaigns.models import (
    Campaign,
    CampaignState,
    Cycle,
    CycleState,
    NoteKind,
)
from runs.campaigns.notes import tell_note
from runs.campaigns.schedule import Slot, part_of, slot, slot_at
from runs.campaigns.selectors import open_campaigns, standing_of
from runs.campaigns.settling import settle
from runs.campaigns.standing import Standing, Terms
from runs.models import Run, Suite
from runs.planning import build_plan
from runs.services import store_run

logger = logging.getLogger(__name__)


def tick(reading: Reading | None = None) -> None:
    """Look at every open campaign; one that cannot be handled does not stop the others."""
    now = reading or read_clocks()
    for campaign in open_campaigns():
        try:
            look_at(campaign, now)
        except Exception:
            logger.exception("Campaign %s could not be looked at", campaign.pk)


def look_at(campaign: Campaign, now: Reading) -> None:
    if not campaign.revision.is_active:
        said = (
            f"{campaign.deployment} has another revision now: this was about {campaign.revision}."
        )
        tell_note(campaign, NoteKind.IDENTITY_CHANGED, said, at=now.wall)
        end(campaign, CampaignState.FAILED, said, now)
        return
    watch_clocks(campaign, now)
    settle_cycles(campaign, now)
    if campaign.state == CampaignState.RUNNING:
        begin_due(campaign, now)
    decide(campaign, now)


def watch_clocks(campaign: Campaign, now: Reading) -> None:
    """Note a clock that was set, and time in which nobody looked. Both count by themselves: their
    slots have no cycles."""
    if campaign.watched_at is not None and campaign.watched_boot_s is not None:
        before = Reading(campaign.watched_at, campaign.watched_boot_s, campaign.watched_boot_id)
        note_jump(campaign, before, now)
        note_unwatched(campaign, before, now)
    Campaign.objects.filter(pk=campaign.pk).update(
        watched_at=now.wall, watched_boot_s=now.boot_s, watched_boot_id=now.boot_id
    )


def note_jump(campaign: Campaign, before: Reading, now: Reading) -> None:
    by_s = jump_s(before, now)
    if by_s is None:
        said = "The machine was started anew, or another one watches now."
        tell_note(campaign, NoteKind.GAP, said, at=before.wall, until=now.wall)
    elif by_s:
        way = "forward" if by_s > 0 else "back"
        said = f"The wall clock was set {way} by {abs(by_s):,.0f} s; no time is won by that."
        tell_note(campaign, NoteKind.CLOCK_JUMP, said, at=before.wall, until=now.wall)


def note_unwatched(campaign: Campaign, before: Reading, now: Reading) -> None:
    """Longer than a cycle: then one was missed for that."""
    silent_s = now.boot_s - before.boot_s
    if before.boot_id == now.boot_id and silent_s > campaign.terms["cycle_s"]:
        said = (
            f"Nobody looked for {silent_s / 60:,.1f} min: the scheduler, the database or the "
            "machine stood still."
        )
        tell_note(campaign, NoteKind.GAP, said, at=before.wall, until=now.wall)
        publish(campaign, "campaign_gap", f"{campaign.watched_at}", said)


def settle_cycles(campaign: Campaign, now: Reading) -> None:
    going_on = campaign.cycles.filter(state=CycleState.RUNNING).select_related("run")
    terms = Terms.from_dict(campaign.terms)
    for cycle in going_on.order_by("number"):
        cycle.campaign = campaign
        its = slot(terms, campaign.started_at, campaign.seed, cycle.number)
        settle(cycle, its, is_slot_over=now.wall >= its.ends_at)
        campaign.refresh_from_db(fields=["identity"])


def begin_due(campaign: Campaign, now: Reading) -> None:
    """The cycle of this moment's slot, once; one that is still measuring covers it already."""
    terms = Terms.from_dict(campaign.terms)
    its = slot_at(terms, campaign.started_at, campaign.seed, now.wall)
    if its is None or now.wall < its.due_at:
        return
    if campaign.cycles.filter(Q(number=its.number) | Q(state=CycleState.RUNNING)).exists():
        return
    try:
        with transaction.atomic():
            begin(campaign, its)
    except IntegrityError:
        logger.info("Cycle %s of campaign %s was begun elsewhere", its.number, campaign.pk)


def begin(campaign: Campaign, its: Slot) -> None:
    """The row first: whoever stores it has the cycle."""
    name = part_of(its.number, campaign.profile, localtime(its.due_at).hour)
    part = next(part for part in campaign.mix if part["name"] == name)
    cycle = Cycle.objects.create(
        campaign=campaign, number=its.number, due_at=its.due_at, part=name
    )
    run = queue_run(campaign, cycle, Suite.objects.get(pk=part["suite_id"]))
    Cycle.objects.filter(pk=cycle.pk).update(run=run)
    transaction.on_commit(partial(doorbell.ring, run))


def queue_run(campaign: Campaign, cycle: Cycle, suite: Suite) -> Run:
    plan = build_plan(
        deployment=campaign.deployment,
        revision=campaign.revision,
        endpoint=campaign.endpoint,
        suite=suite,
    )
    rehearsal = "Rehearsal, " if campaign.is_rehearsal else ""
    return store_run(
        deployment=campaign.deployment,
        revision=campaign.revision,
        endpoint=campaign.endpoint,
        suite=suite,
        plan=plan,
        # By name only: whoever waits for the campaign is not to be told of every cycle.
        requested_by_name=campaign.requested_by_name,
        note=f"{rehearsal}campaign #{campaign.pk}, cycle {cycle.number}, {cycle.part}",
    )


def decide(campaign: Campaign, now: Reading) -> None:
    """End it as soon as its rules say how."""
    seen = standing_of(campaign, now.wall)
    if seen.verdict:
        end(campaign, seen.verdict, seen.why, now)
    else:
        warn(campaign, seen)


def end(campaign: Campaign, verdict: str, why: str, now: Reading) -> None:
    said = f"Rehearsal, never evidence: {why}" if campaign.is_rehearsal else why
    changed = Campaign.objects.filter(pk=campaign.pk, state=campaign.state).update(
        state=verdict, explanation=said, finished_at=now.wall
    )
    if not changed:
        return
    tell_note(campaign, NoteKind.FINISHED, said, at=now.wall)
    if verdict == CampaignState.FAILED:
        publish(campaign, "campaign_failing", "failed", f"It failed. {said}")


def warn(campaign: Campaign, seen: Standing) -> None:
    """Once for each failure while it can still be saved."""
    if seen.consecutive_failed:
        said = f"{seen.cycles_failed} cycles without a clean pass, {seen.budget_left} more may be."
        publish(campaign, "campaign_failing", f"{seen.cycles_failed}", said)


def publish(campaign: Campaign, kind: str, key: str, text: str) -> None:
    signals.tell(
        signals.happened,
        kind=kind,
        key=f"campaign-{campaign.pk}-{key}",
        title=f"{campaign.get_kind_display()} of {campaign.deployment}",
        path=f"/campaigns/{campaign.pk}/",
        text=text,
        deployment=campaign.deployment,
        people=[campaign.requested_by] if campaign.requested_by else [],
    )
