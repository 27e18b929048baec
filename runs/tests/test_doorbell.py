from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from runs import claims, doorbell
from runs.models import Run, WorkerBeat

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]


@pytest.fixture
def worker() -> WorkerBeat:
    now = timezone.now()
    return WorkerBeat.objects.create(
        name="measure@mini", host_key="lab-mini", pid=1, started_at=now, seen_at=now
    )


def test_it_rings_again_for_what_nobody_took(
    make_run: MakeRun, worker: WorkerBeat, rung: list[int], settings: Any
) -> None:
    run = make_run()
    doorbell.ring(run)
    doorbell.ring_again()
    assert rung == [run.pk]
    old = timezone.now() - timedelta(seconds=settings.RING_AGAIN_S + 1)
    Run.objects.filter(pk=run.pk).update(rung_at=old)
    doorbell.ring_again()
    assert rung == [run.pk, run.pk]


def test_it_rings_for_the_longest_waiting_run_of_a_host(
    make_run: MakeRun, worker: WorkerBeat, rung: list[int]
) -> None:
    first = make_run()
    make_run()
    doorbell.ring_again()
    assert rung == [first.pk]


def test_it_does_not_ring_while_the_host_measures(
    make_run: MakeRun, worker: WorkerBeat, rung: list[int]
) -> None:
    claims.claim(make_run().pk, worker="w1")
    make_run()
    doorbell.ring_again()
    assert rung == []


def test_it_does_not_ring_where_nobody_listens(
    make_run: MakeRun, worker: WorkerBeat, rung: list[int]
) -> None:
    WorkerBeat.objects.update(seen_at=timezone.now() - timedelta(hours=1))
    make_run()
    doorbell.ring_again()
    assert rung == []


def test_a_broker_that_is_away_loses_no_run(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(current_app, "send_task", refuse)
    run = make_run()
    doorbell.ring(run)
    run.refresh_from_db()
    assert run.state == "queued"
    assert run.rung_at is not None
