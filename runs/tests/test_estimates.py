from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.models import Deployment
from runs.estimates import estimate_cost
from runs.models import Run, Suite
from runs.storage import store_requests
from runs.tests.scripted import request_result

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]


def finished(make_run: MakeRun, seconds: float, outcome: str = "clean_pass") -> Run:
    now = timezone.now()
    times = {"started_at": now - timedelta(seconds=seconds), "finished_at": now}
    return make_run(state="finished", outcome=outcome, **times)


def test_it_knows_nothing_before_the_first_run(deployment: Deployment, suite: Suite) -> None:
    estimate = estimate_cost(deployment, suite, "direct")
    assert (estimate.n, estimate.typical_s) == (0, None)
    assert "not yet" in estimate.source


def test_it_says_from_which_runs_it_estimates(
    deployment: Deployment, suite: Suite, make_run: MakeRun
) -> None:
    for seconds in (10.0, 30.0, 12.0):
        finished(make_run, seconds)
    newest = finished(make_run, 14.0)
    store_requests(newest.pk, [request_result(n).as_dict() for n in range(2)])
    newest.report = {"memory": {"peak_bytes": 7 * 2**20}}
    newest.save()

    estimate = estimate_cost(deployment, suite, "direct")
    assert estimate.source == "from the last 4 runs of this suite here"
    assert (estimate.low_s, estimate.typical_s, estimate.high_s) == (10.0, 13.0, 30.0)
    assert estimate.tokens == 24
    assert estimate.peak_bytes == 7 * 2**20


def test_a_run_that_was_cut_short_tells_nothing(
    deployment: Deployment, suite: Suite, make_run: MakeRun
) -> None:
    finished(make_run, 1.0, "inconclusive")
    assert estimate_cost(deployment, suite, "direct").n == 0
