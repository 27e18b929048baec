"""From a queued run to a stored result, on a database that other threads can see."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import OperationalError
from django.utils import timezone

from runs import claims, workers
from runs.claims import Ending
from runs.engine.observer import Cancel, Observer
from runs.engine.outcomes import Outcome
from runs.engine.plan import Plan
from runs.engine.records import RunReport
from runs.events import EventWriter
from runs.executor import execute
from runs.models import HostLease, Run, RunEvent, WorkerBeat
from runs.storage import unpack_offsets
from runs.tests.scripted import clean_engine, report, request_result
from tests.servers import eventually

pytestmark = pytest.mark.django_db(transaction=True)
MakeRun = Callable[..., Run]


def stop_when_asked(plan: Plan, observer: Observer, cancel: Cancel) -> RunReport:
    observer.emit("run.started", {"suite": plan.suite, "checks": 1, "requests": 1})
    eventually(cancel.is_set, deadline_s=10, what="asked to stop")
    return report(outcome=Outcome.INCONCLUSIVE, failure_class="cancelled", explanation="Stopped.")


def test_it_stores_events_requests_and_the_outcome(make_run: MakeRun, rung: list[int]) -> None:
    run = make_run()
    execute(run.pk, worker="w1", engine=clean_engine)
    run.refresh_from_db()
    assert (run.state, run.outcome, run.worker) == ("finished", "clean_pass", "w1")
    assert run.report["checks"][0]["key"] == "stream"
    assert "requests" not in run.report

    events = list(run.events.all())
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert events[-1].kind == "run.finished"
    assert "token_offsets_ms" not in str(events[3].payload)

    request = run.requests.get()
    assert (request.ttft_ms, request.decode_tps, request.prompt_tokens) == (12.5, None, 9)
    assert unpack_offsets(request.token_offsets) == [12.5, 20.125, 30.25]
    assert "token_offsets_ms" not in request.record["timeline"]
    assert HostLease.objects.get().run is None


def test_a_doubled_message_finds_nothing_to_do(make_run: MakeRun, rung: list[int]) -> None:
    run = make_run()
    execute(run.pk, engine=clean_engine)
    execute(run.pk, engine=clean_engine)
    assert run.events.filter(kind="run.started").count() == 1


def test_a_run_waits_for_its_host_and_is_rung_when_it_is_free(
    make_run: MakeRun, rung: list[int]
) -> None:
    first, second = make_run(), make_run()
    now = timezone.now()
    WorkerBeat.objects.create(name="w1", host_key="lab-mini", pid=1, started_at=now, seen_at=now)

    def engine(plan: Plan, observer: Observer, cancel: Cancel) -> RunReport:
        execute(second.pk, engine=clean_engine)
        return report()

    execute(first.pk, engine=engine)
    second.refresh_from_db()
    assert second.state == "queued"
    assert rung == [second.pk]


def test_our_own_failure_is_inconclusive_and_never_a_pass(
    make_run: MakeRun, rung: list[int]
) -> None:
    def engine(plan: Plan, observer: Observer, cancel: Cancel) -> RunReport:
        observer.emit("run.started", {"requests": 1})
        raise ZeroDivisionError("Bearer secret")

    run = make_run()
    execute(run.pk, engine=engine)
    run.refresh_from_db()
    assert (run.outcome, run.failure_class) == ("inconclusive", "interrupted")
    assert "ZeroDivisionError" in run.explanation
    assert "secret" not in run.explanation
    assert run.events.filter(kind="run.started").exists()
    assert HostLease.objects.get().run is None


def test_a_cancel_reaches_the_engine(make_run: MakeRun, rung: list[int]) -> None:
    run = make_run()

    def engine(plan: Plan, observer: Observer, cancel: Cancel) -> RunReport:
        Run.objects.filter(pk=run.pk).update(cancel_requested_at=timezone.now())
        return stop_when_asked(plan, observer, cancel)

    execute(run.pk, engine=engine)
    run.refresh_from_db()
    assert (run.outcome, run.failure_class) == ("inconclusive", "cancelled")


def test_a_stopping_worker_leaves_an_interrupted_run(
    make_run: MakeRun, rung: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping = threading.Event()
    stopping.set()
    monkeypatch.setattr(workers, "stopping", stopping)
    run = make_run()
    execute(run.pk, engine=stop_when_asked)
    run.refresh_from_db()
    assert (run.outcome, run.failure_class) == ("inconclusive", "interrupted")


def test_a_reaped_run_stops_and_writes_nothing_more(make_run: MakeRun, rung: list[int]) -> None:
    run = make_run()

    def engine(plan: Plan, observer: Observer, cancel: Cancel) -> RunReport:
        observer.emit("note", {"text": "first"})
        eventually(run.events.all().exists, deadline_s=10, what="stored")
        held = claims.Claim(run.pk, Run.objects.get(pk=run.pk).claim_token)
        claims.finish(held, Ending("inconclusive", "interrupted", "Reaped."), report={})
        observer.emit("note", {"text": "late"})
        eventually(cancel.is_set, deadline_s=10, what="asked to stop")
        return report(request_result())

    execute(run.pk, engine=engine)
    run.refresh_from_db()
    assert run.failure_class == "interrupted"
    assert [event.kind for event in run.events.all()] == ["note", "run.finished"]
    assert not run.requests.exists()


def test_events_are_numbered_without_gaps_across_batches(make_run: MakeRun) -> None:
    run = make_run()
    claim = claims.claim(run.pk, worker="w1")
    assert claim is not None
    with EventWriter(claim) as writer:
        for number in range(1200):
            writer.emit("note", {"text": str(number)})
    seqs = list(run.events.values_list("seq", flat=True))
    assert seqs == list(range(1, 1201))
    texts = [event.payload["text"] for event in run.events.all()]
    assert texts == [str(number) for number in range(1200)]


def test_what_a_server_says_is_bounded_before_it_is_stored(make_run: MakeRun) -> None:
    run = make_run()
    claim = claims.claim(run.pk, worker="w1")
    assert claim is not None
    with EventWriter(claim) as writer:
        writer.emit("note", {"text": "x" * 100_000, "odd": "a\0\ud800b", "rate": float("nan")})
    payload = RunEvent.objects.get(run=run).payload
    assert len(payload["text"]) == 4000
    assert payload["odd"] == "a\ufffd?b"
    assert payload["rate"] is None


def test_a_finished_request_is_there_before_the_run_ends(
    make_run: MakeRun, rung: list[int]
) -> None:
    run = make_run()

    def engine(plan: Plan, observer: Observer, cancel: Cancel) -> RunReport:
        result = request_result()
        observer.emit("request.finished", {"request": 0, "result": result.as_dict()})
        eventually(run.requests.all().exists, deadline_s=10, what="stored")
        result.outcome = Outcome.FAIL  # judged again with the whole run in view
        return report(result, outcome=Outcome.FAIL)

    execute(run.pk, engine=engine)
    assert run.requests.get().outcome == "fail"


def test_an_event_that_cannot_be_stored_ends_the_run_as_our_failure(
    make_run: MakeRun, rung: list[int]
) -> None:
    def engine(plan: Plan, observer: Observer, cancel: Cancel) -> RunReport:
        observer.emit("request.finished", {"request": 0, "result": {}})
        eventually(cancel.is_set, deadline_s=10, what="asked to stop")
        return report()

    run = make_run()
    execute(run.pk, engine=engine)
    run.refresh_from_db()
    assert (run.outcome, run.failure_class) == ("inconclusive", "interrupted")
    assert "KeyError" in run.explanation


def test_events_wait_for_a_database_that_is_away(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    claim = claims.claim(run.pk, worker="w1")
    assert claim is not None
    failures = iter([OperationalError("database is locked")] * 2)
    look = claims.look

    def look_later(held: claims.Claim) -> claims.Standing:
        for failure in failures:
            raise failure
        return look(held)

    monkeypatch.setattr(claims, "look", look_later)
    with EventWriter(claim) as writer:
        for number in range(3):
            writer.emit("note", {"text": str(number)})
    assert [event.payload["text"] for event in run.events.all()] == ["0", "1", "2"]
