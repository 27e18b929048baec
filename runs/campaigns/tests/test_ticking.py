"""Campaigns by a controlled clock: what the record says after all that can happen to them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from catalog.models import Deployment, Revision
from people.models import User
from runs import claims
from runs.campaigns.models import Campaign, CycleState
from runs.campaigns.selectors import evidence_of, standing_of
from runs.campaigns.services import (
    CampaignRefused,
    end_campaign,
    extend_campaign,
    pause_campaign,
    resume_campaign,
)
from runs.campaigns.tests.conftest import World, server
from runs.claims import Ending
from runs.models import Run

Begin = Callable[..., Campaign]
FAIL = Ending("fail", "http_5xx", "500 came back.")


def notes(campaign: Campaign) -> list[str]:
    return list(campaign.notes.values_list("kind", flat=True))


def test_a_week_with_a_gap_a_restart_and_a_clock_jump_is_told_as_it_was(
    world: World, begin: Begin
) -> None:
    soak = begin("soak")
    world.live(soak, 2)
    world.skip_quietly(soak, 198)
    world.pass_s(2400)  # forty minutes in which the machine was stopped
    world.live(soak, 3)
    world.report = server(process={"started_s": 99000.0})  # the server, started anew
    world.live(soak, 2)
    world.set_wall(world.wall + timedelta(seconds=1800))  # half an hour that nobody lived
    world.live(soak, 2)
    done = soak.cycles.order_by("-number")[0].number + 1
    world.skip_quietly(soak, 1008 - done)
    world.tick()
    soak.refresh_from_db()
    seen = standing_of(soak)
    assert [gap.took_s for gap in seen.gaps] == [2400, 1800]
    assert seen.covered_s == 7 * 86400 - 2400 - 1800
    assert seen.coverage == pytest.approx(1001 / 1008)
    assert (seen.cycles_failed, seen.budget_left) == (1, 4), "the restart costs budget"
    assert notes(soak) == ["started", "gap", "server_restart", "clock_jump", "finished"]
    assert soak.state == "passed"
    assert soak.finished_at is not None and soak.finished_at >= soak.ends_at
    proof = evidence_of(soak)
    assert (proof.is_rehearsal, proof.duration_s, proof.longest_gap_s) == (False, 604800, 2400)


def test_a_clock_set_back_repeats_nothing_and_wins_no_time(world: World, begin: Begin) -> None:
    canary = begin("canary")
    world.live(canary, 3)
    world.set_wall(world.wall - timedelta(seconds=240))
    runs = Run.objects.count()
    world.live(canary, 2)  # these slots have their cycles already
    assert Run.objects.count() == runs
    world.live(canary, 1)
    assert Run.objects.count() == runs + 1
    assert canary.notes.get(kind="clock_jump").text.startswith(
        "The wall clock was set back by 240"
    )


def test_a_cycle_is_begun_once_however_often_anybody_looks(world: World, begin: Begin) -> None:
    canary = begin("canary")
    world.pass_s(60)
    for _ in range(3):
        world.tick()
    assert canary.cycles.count() == Run.objects.count() == 1


def test_a_worker_that_is_killed_costs_its_cycle_and_nothing_else(
    world: World, begin: Begin
) -> None:
    canary = begin("canary")
    world.live(canary, 1)
    world.live(canary, 1, Ending("inconclusive", "interrupted", "The worker stopped answering."))
    world.pass_s(60)
    world.tick()
    world.work(canary, worker="w2")
    world.pass_s(60)
    world.tick()
    seen = standing_of(canary, world.wall)
    assert (seen.slots_covered, seen.cycles_failed, len(seen.gaps)) == (2, 0, 1)
    assert notes(canary) == ["started", "worker_lost", "handed_over"]


def test_without_a_worker_the_cycle_is_missed_and_its_run_let_go(
    world: World, begin: Begin
) -> None:
    canary = begin("canary")
    world.pass_s(60)
    world.tick()
    world.pass_s(70)
    world.tick()
    cycle = canary.cycles.get(number=0)
    assert cycle.state == CycleState.MISSED
    assert cycle.explanation.startswith("No worker took it in its time")
    assert cycle.run is not None and cycle.run.outcome == "inconclusive"


def test_a_long_cycle_is_waited_for_and_not_doubled(world: World, begin: Begin) -> None:
    canary = begin("canary")
    world.pass_s(60)
    world.tick()
    held = claims.claim(canary.cycles.get().run_id or 0, worker="w1")
    assert held is not None
    for _ in range(4):
        world.pass_s(60)
        world.tick()
    assert canary.cycles.count() == 1
    claims.finish(held, Ending("clean_pass"), report=world.report)
    world.tick()
    seen = standing_of(canary, world.wall)
    assert (seen.slots_covered, seen.gaps) == (3, ())


def test_a_run_that_began_after_its_slot_covers_nothing(world: World, begin: Begin) -> None:
    canary = begin("canary")
    world.pass_s(60)
    world.tick()
    world.pass_s(61)
    world.work(canary)
    world.tick()
    assert canary.cycles.get(number=0).state == CycleState.MISSED
    assert standing_of(canary, world.wall).covered_s == 0


def test_failures_in_a_row_end_it_and_it_is_told(world: World, begin: Begin) -> None:
    canary = begin("canary")
    world.live(canary, 2, FAIL)
    assert canary.state == "failed"
    assert canary.explanation == "2 cycles failed one after the other; 1 may."
    world.live(canary, 1)
    assert canary.cycles.count() == 2, "nothing is asked after the end"


@pytest.mark.parametrize("changed", [{"version": "b2"}, {"file": "/m/other.gguf"}])
def test_another_model_or_version_ends_it_at_once(
    world: World, begin: Begin, changed: dict[str, str]
) -> None:
    soak = begin("soak")
    world.live(soak, 1)
    world.report = server(**changed)
    world.live(soak, 1)
    assert soak.state == "failed"
    assert next(iter(changed.values())) in soak.explanation
    assert "identity_changed" in notes(soak)


def test_a_new_revision_ends_it(world: World, begin: Begin, deployment: Deployment) -> None:
    soak = begin("soak")
    world.live(soak, 1)
    old = soak.revision
    Revision.objects.filter(pk=old.pk).update(is_active=False)
    Revision.objects.create(deployment=deployment, number=2, runtime_build=old.runtime_build)
    world.tick()
    soak.refresh_from_db()
    assert soak.state == "failed"
    assert "has another revision now" in soak.explanation


def test_a_pause_is_a_gap(world: World, begin: Begin, olive: User) -> None:
    canary = begin("canary")
    world.live(canary, 1)
    pause_campaign(actor=olive, campaign=canary)
    world.live(canary, 2)
    resume_campaign(actor=olive, campaign=canary)
    world.live(canary, 1)
    assert [gap.took_s for gap in standing_of(canary, world.wall).gaps] == [240]
    assert notes(canary) == ["started", "paused", "resumed"]
    with pytest.raises(CampaignRefused):
        resume_campaign(actor=olive, campaign=canary)


def test_extending_keeps_what_failed_and_never_makes_evidence_of_a_rehearsal(
    world: World, begin: Begin, olive: User
) -> None:
    trial = begin("canary", rehearsal_s=600, cycle_s=60)
    world.live(trial, 1, FAIL)
    extend_campaign(actor=olive, campaign=trial, seconds=600)
    trial.refresh_from_db()
    assert trial.ends_at - trial.started_at == timedelta(seconds=1200)
    assert standing_of(trial, world.wall).cycles_failed == 1
    with pytest.raises(CampaignRefused, match="stays one"):
        extend_campaign(actor=olive, campaign=trial, seconds=7200)


def test_a_rehearsal_says_so_to_its_end(world: World, begin: Begin) -> None:
    trial = begin("soak", rehearsal_s=120, cycle_s=60)
    world.live(trial, 2)
    assert trial.state == "passed"
    assert trial.explanation.startswith("Rehearsal, never evidence: 2 of 2 cycles")
    assert evidence_of(trial).is_rehearsal
    assert all(run.note.startswith("Rehearsal, campaign") for run in Run.objects.all())


def test_ended_by_a_person_it_has_proved_nothing(world: World, begin: Begin, olive: User) -> None:
    canary = begin("canary")
    end_campaign(actor=olive, campaign=canary, reason="Wrong window.")
    canary.refresh_from_db()
    assert canary.state == "ended"
    assert canary.explanation == "Ended by olive before its time. Wrong window."


def test_one_of_a_kind_is_open_at_a_time(begin: Begin) -> None:
    begin("canary")
    begin("soak")
    with pytest.raises(CampaignRefused, match="is open already"):
        begin("canary")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"rehearsal_s": 7200}, "A rehearsal is shorter than the 2 h"),
        ({"cycle_s": 600}, "A cycle takes 10 to 120 s here, not 600 s."),
        ({"rehearsal_s": 15}, "cannot hold two cycles"),
        ({"layer": "proxy"}, "has no proxy endpoint"),
    ],
)
def test_what_cannot_be_evidence_is_refused_with_a_reason(
    begin: Begin, more: dict[str, object], said: str
) -> None:
    with pytest.raises(CampaignRefused, match=said):
        begin("canary", **more)
