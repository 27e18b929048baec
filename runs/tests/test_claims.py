from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from catalog.models import Host
from runs import claims
from runs.claims import Claim, Ending
from runs.models import HostLease, Run, RunEvent

MakeRun = Callable[..., Run]
PASSED = Ending("clean_pass")


def taken(run: Run) -> Claim:
    claim = claims.claim(run.pk, worker="w1")
    assert claim is not None
    return claim


def age(run: Run, seconds: float) -> None:
    Run.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=seconds))


def test_it_gives_a_run_to_one_worker_only(make_run: MakeRun) -> None:
    run = make_run()
    assert claims.claim(run.pk, worker="w1") is not None
    assert claims.claim(run.pk, worker="w2") is None
    run.refresh_from_db()
    assert (run.state, run.worker) == ("running", "w1")


def test_it_leaves_a_run_queued_while_its_host_is_busy(make_run: MakeRun, host: Host) -> None:
    first, second = make_run(), make_run()
    claim = taken(first)
    with pytest.raises(claims.HostBusy):
        claims.claim(second.pk, worker="w2")
    second.refresh_from_db()
    assert second.state == "queued"
    assert second.started_at is None

    assert claims.finish(claim, PASSED, report={})
    assert claims.claim(second.pk, worker="w2") is not None
    assert HostLease.objects.get(host=host).run == second


def test_it_takes_a_lease_that_nobody_renewed(make_run: MakeRun, host: Host) -> None:
    first, second = make_run(), make_run()
    claim = taken(first)
    HostLease.objects.filter(host=host).update(expires_at=timezone.now() - timedelta(seconds=1))
    taken(second)
    assert claims.beat(claim) is False


def test_it_finishes_only_with_the_token_that_stands_on_the_row(make_run: MakeRun) -> None:
    run = make_run()
    claim = taken(run)
    assert claims.finish(Claim(run.pk, "another"), PASSED, report={}) is False
    assert claims.finish(claim, PASSED, report={"checks": []}) is True
    assert claims.finish(claim, Ending("fail"), report={}) is False
    run.refresh_from_db()
    assert (run.state, run.outcome, run.report) == ("finished", "clean_pass", {"checks": []})


def test_it_writes_the_last_event_together_with_the_end(make_run: MakeRun) -> None:
    run = make_run()
    claim = taken(run)
    RunEvent.objects.create(run=run, seq=1, t_ms=5, kind="note", payload={})
    claims.finish(claim, Ending("fail", "marker_mismatch", "Said no."), report={})
    last = run.events.last()
    assert last is not None
    assert (last.seq, last.kind) == (2, "run.finished")
    assert last.payload["failure_class"] == "marker_mismatch"


def test_it_reaps_a_run_whose_worker_went_quiet_and_keeps_what_was_recorded(
    make_run: MakeRun, host: Host, settings: Any
) -> None:
    run = make_run()
    claim = taken(run)
    result = {"key": "stream", "outcome": "clean_pass"}
    RunEvent.objects.create(
        run=run, seq=1, t_ms=5, kind="check.finished", payload={"check": 0, "result": result}
    )
    age(run, settings.HEARTBEAT_STALE_S + 1)

    assert claims.reap() == [run.pk]
    run.refresh_from_db()
    assert (run.state, run.outcome, run.failure_class) == (
        "finished",
        "inconclusive",
        "interrupted",
    )
    assert run.report == {"checks": [result]}
    assert [event.kind for event in run.events.all()] == ["check.finished", "run.finished"]
    assert HostLease.objects.get(host=host).run is None
    assert claims.beat(claim) is False
    assert claims.look(claim).held is False
    assert claims.reap() == []


def test_it_lets_a_beating_run_live(make_run: MakeRun, settings: Any) -> None:
    run = make_run()
    claim = taken(run)
    age(run, settings.HEARTBEAT_STALE_S + 1)
    assert claims.beat(claim) is True
    assert claims.reap() == []


def test_it_sees_that_somebody_wants_the_run_to_stop(make_run: MakeRun) -> None:
    run = make_run()
    claim = taken(run)
    assert claims.look(claim).cancel is False
    Run.objects.filter(pk=run.pk).update(cancel_requested_at=timezone.now())
    assert claims.look(claim) == claims.Standing(held=True, cancel=True)
