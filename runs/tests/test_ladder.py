"""Which layer is proven, and which may be counted."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from catalog.models import Deployment, Revision
from runs.ladder import RunFact, Rung, ladder, ladder_of
from runs.models import Run

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ALL = ("direct", "gateway", "proxy")


def fact(outcome: str = "clean_pass", failure_class: str = "") -> RunFact:
    return RunFact(7, outcome, failure_class, "What was seen.", "Gateway", NOW)


def rungs(layers: tuple[str, ...], newest: dict[str, RunFact]) -> list[Rung]:
    return [step.rung for step in ladder(layers, newest)]


def test_each_layer_stands_on_the_one_before() -> None:
    assert rungs(ALL, dict.fromkeys(ALL, fact())) == [Rung.PROVEN] * 3
    assert rungs(ALL, {"gateway": fact()}) == [Rung.NOT_TRIED, Rung.NOT_YET, Rung.NOT_TRIED]
    broken = {"direct": fact("fail", "http_5xx"), "proxy": fact()}
    assert rungs(ALL, broken) == [Rung.FAILED, Rung.NOT_TRIED, Rung.NOT_YET]


def test_a_layer_without_an_endpoint_stops_nobody() -> None:
    both = {"direct": fact(), "proxy": fact()}
    assert rungs(("direct", "proxy"), both) == [Rung.PROVEN, Rung.NO_ENDPOINT, Rung.PROVEN]


def test_degraded_is_not_proven_and_says_why() -> None:
    [_, gateway, _] = ladder(
        ALL, {"direct": fact(), "gateway": fact("degraded", "buffered_stream")}
    )
    assert gateway.rung == Rung.FAILED
    assert gateway.sentence == "buffered stream: What was seen."


@pytest.mark.django_db
def test_only_the_active_revision_counts_and_what_we_broke_off_tells_nothing(
    deployment: Deployment, make_run: object
) -> None:
    assert callable(make_run)
    old = deployment.revisions.get()
    clean: Run = make_run(state="finished", outcome="clean_pass", finished_at=NOW)
    make_run(state="finished", outcome="inconclusive", failure_class="cancelled", finished_at=NOW)
    [direct, *_] = ladder_of(deployment, old)
    assert (direct.rung, direct.fact.run_id if direct.fact else None) == (Rung.PROVEN, clean.pk)
    new = Revision(deployment=deployment, number=2, runtime_build=old.runtime_build, parallel=8)
    Revision.objects.filter(pk=old.pk).update(is_active=False)
    new.save()
    assert ladder_of(deployment, new)[0].rung == Rung.NOT_TRIED
