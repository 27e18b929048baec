from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs import claims
from runs.claims import Ending
from runs.follow import PAGE, read_page
from runs.models import Run, RunEvent

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]


def add_events(run: Run, count: int) -> None:
    RunEvent.objects.bulk_create(
        RunEvent(run=run, seq=n, t_ms=n, kind="note", payload={"text": str(n)})
        for n in range(1, count + 1)
    )


def read_all(run: Run, after: int) -> list[int]:
    seqs: list[int] = []
    while True:
        page = read_page(run.pk, after)
        seqs += [event["seq"] for event in page["events"]]
        after = page["last"]
        if not page["is_more"]:
            return seqs


@pytest.mark.parametrize("after", [0, 1, 499, 500, 501, 1249, 1250, 1251, 9999])
def test_a_log_can_be_followed_from_any_point(make_run: MakeRun, after: int) -> None:
    run = make_run()
    claim = claims.claim(run.pk, worker="w1")
    assert claim is not None
    add_events(run, 2 * PAGE + 249)
    claims.finish(claim, Ending("clean_pass"), report={})
    assert read_all(run, after) == list(range(after + 1, 2 * PAGE + 251))


def test_a_page_is_bounded_and_says_that_there_is_more(make_run: MakeRun) -> None:
    run = make_run(state="finished", outcome="clean_pass")
    add_events(run, PAGE + 1)
    page = read_page(run.pk, 0)
    assert len(page["events"]) == PAGE
    assert (page["is_more"], page["is_ended"]) == (True, False)
    rest = read_page(run.pk, page["last"])
    assert (len(rest["events"]), rest["is_more"], rest["is_ended"]) == (1, False, True)


def test_a_queued_run_says_what_it_waits_for(make_run: MakeRun) -> None:
    first, second = make_run(), make_run()
    assert "none is alive for Lab mini" in read_page(first.pk, 0)["status"]["sentence"]
    claims.claim(first.pk, worker="w1")
    sentence = read_page(second.pk, 0)["status"]["sentence"]
    assert sentence == f"Waiting for Lab mini: run #{first.pk} is measuring there."


def test_a_quiet_worker_is_noticed_before_it_is_given_up(make_run: MakeRun, settings: Any) -> None:
    run = make_run()
    claims.claim(run.pk, worker="w1")
    assert read_page(run.pk, 0)["status"]["is_stalled"] is False
    quiet = timezone.now() - timedelta(seconds=4 * settings.HEARTBEAT_INTERVAL_S)
    Run.objects.update(heartbeat_at=quiet)
    status = read_page(run.pk, 0)["status"]
    assert status["is_stalled"] is True
    assert "has not been heard of" in status["sentence"]


def test_there_is_no_page_of_an_unknown_run() -> None:
    with pytest.raises(Run.DoesNotExist):
        read_page(404, 0)
