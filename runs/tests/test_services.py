from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.test import TestCase

from catalog.models import Deployment, Revision
from people.models import User
from runs import claims
from runs.engine.plan import Plan
from runs.models import Run, Suite
from runs.planning import RunRefused
from runs.services import (
    add_suite_version,
    cancel_run,
    ensure_default_suites,
    repeat_run,
    start_run,
    start_run_from_command_line,
)

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]


def test_an_operator_starts_a_run_and_the_host_is_rung_on_commit(
    olive: User, deployment: Deployment, suite: Suite, rung: list[int]
) -> None:
    with TestCase.captureOnCommitCallbacks(execute=True) as callbacks:
        run = start_run(actor=olive, deployment=deployment, suite=suite, layer="direct")
        assert rung == []
    assert len(callbacks) == 1
    assert rung == [run.pk]
    revision = deployment.revisions.get()
    assert (run.state, run.requested_by, run.requested_by_name) == ("queued", olive, "olive")
    assert run.revision_fingerprint == revision.fingerprint
    assert run.code_version.startswith("0.1.0+")


def test_the_plan_is_stored_whole(
    olive: User, deployment: Deployment, suite: Suite, rung: list[int]
) -> None:
    run = start_run(actor=olive, deployment=deployment, suite=suite, layer="direct")
    plan = Plan.from_dict(run.plan)
    assert plan.target.expected_file == "smollm2.gguf"
    assert plan.target.expected_names == ("smollm2-135m",)
    assert plan.target.runtime == "llama-cpp"
    assert [check.key for check in plan.checks] == ["stream", "chat"]
    assert run.planned_requests >= 2


def test_every_run_has_prompts_of_its_own(
    olive: User, deployment: Deployment, suite: Suite, rung: list[int]
) -> None:
    first = start_run(actor=olive, deployment=deployment, suite=suite, layer="direct")
    again = repeat_run(actor=olive, run=first)
    assert again.repeats == first
    assert again.plan["seed"] != first.plan["seed"]


def test_a_viewer_starts_and_cancels_nothing(
    vera: User, deployment: Deployment, suite: Suite, make_run: MakeRun
) -> None:
    run = make_run()
    with pytest.raises(PermissionDenied):
        start_run(actor=vera, deployment=deployment, suite=suite, layer="direct")
    with pytest.raises(PermissionDenied):
        cancel_run(actor=vera, run=run)
    with pytest.raises(PermissionDenied):
        repeat_run(actor=vera, run=run)
    assert Run.objects.count() == 1


def test_it_refuses_without_an_endpoint_at_the_layer(
    olive: User, deployment: Deployment, suite: Suite
) -> None:
    with pytest.raises(RunRefused, match="no gateway endpoint"):
        start_run(actor=olive, deployment=deployment, suite=suite, layer="gateway")
    with pytest.raises(RunRefused, match="There is no layer cellar"):
        start_run(actor=olive, deployment=deployment, suite=suite, layer="cellar")


def test_it_refuses_without_an_active_revision(
    olive: User, deployment: Deployment, suite: Suite
) -> None:
    Revision.objects.update(is_active=False)
    with pytest.raises(RunRefused, match="no active revision"):
        start_run(actor=olive, deployment=deployment, suite=suite, layer="direct")


def test_the_command_line_names_who_sits_there(deployment: Deployment, suite: Suite) -> None:
    run = start_run_from_command_line(deployment=deployment, suite_key="smoke", layer="direct")
    assert run.requested_by is None
    assert "command line" in run.requested_by_name
    with pytest.raises(ValueError, match=r"no suite smok\. There are: smoke"):
        start_run_from_command_line(deployment=deployment, suite_key="smok", layer="direct")


def test_a_queued_run_is_cancelled_at_once(olive: User, make_run: MakeRun) -> None:
    run = make_run()
    cancel_run(actor=olive, run=run)
    run.refresh_from_db()
    assert (run.state, run.outcome, run.failure_class) == ("finished", "inconclusive", "cancelled")
    assert "olive" in run.explanation
    assert [event.kind for event in run.events.all()] == ["run.finished"]
    assert claims.claim(run.pk, worker="w1") is None


def test_a_running_run_is_asked_to_stop(olive: User, make_run: MakeRun) -> None:
    run = make_run()
    claims.claim(run.pk, worker="w1")
    cancel_run(actor=olive, run=run)
    run.refresh_from_db()
    assert run.state == "running"
    assert run.cancel_requested_at is not None


def test_a_finished_run_cannot_be_cancelled(olive: User, make_run: MakeRun) -> None:
    run = make_run(state="finished", outcome="clean_pass")
    with pytest.raises(RunRefused, match="over already"):
        cancel_run(actor=olive, run=run)


def test_the_default_suites_are_there_once() -> None:
    ensure_default_suites()
    before = list(Suite.objects.values_list("key", "version"))
    ensure_default_suites()
    assert list(Suite.objects.values_list("key", "version")) == before
    assert Suite.objects.filter(key="smoke", is_current=True).exists()


def test_a_changed_default_suite_gets_a_version_and_an_edited_one_is_kept(olive: User) -> None:
    ensure_default_suites()
    Suite.objects.filter(key="smoke").update(checks=[])
    ensure_default_suites()
    assert Suite.objects.get(key="smoke", is_current=True).version == 2

    edited: dict[str, Any] = {"key": "smoke", "name": "Smoke", "description": "", "checks": []}
    Suite.objects.filter(pk=add_suite_version(**edited).pk).update(created_by=olive)
    ensure_default_suites()
    assert Suite.objects.get(key="smoke", is_current=True).version == 3
