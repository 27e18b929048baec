"""Real sweeps on real servers: cells become runs, and whatever happens the rest is told truly."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from catalog.models import Artifact, Deployment, Endpoint, Task
from people.models import User
from runs import workers
from runs.launch.arguments import Parameters
from runs.launch.models import Launch, LaunchProfile
from runs.launch.permission import ALLOW
from runs.launch.tests.test_arguments import HOSTILE
from runs.models import Outcome, Run
from runs.sweeps import claims, executor, outcome
from runs.sweeps.executor import Sweeping, execute
from runs.sweeps.grid import Grid
from runs.sweeps.models import CellState, Sweep, SweepState
from runs.sweeps.services import (
    SweepRefused,
    cancel_sweep,
    pause_sweep,
    resume_sweep,
    start_sweep,
)
from runs.sweeps.tests.conftest import Make
from runs.sweeps.watch import Watch

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.real_server
def test_an_embedding_server_is_swept_against_its_admission(
    needs_demo: None, demo_embedding_server: str, served: Deployment, olive: User, rung: list[int]
) -> None:
    Artifact.objects.update(task=Task.EMBEDDING)
    Endpoint.objects.update(base_url=demo_embedding_server)
    sweep = start_sweep(
        actor=olive,
        deployment=Deployment.objects.get(pk=served.pk),
        grid=Grid(client_concurrency=(2,), warm_up=0),
    )
    execute(sweep.pk)
    cell = sweep.cells.get()
    assert cell.state == CellState.DONE, cell.explanation
    assert cell.figures["asked"] == 8
    assert cell.figures["completed"] + sum(cell.figures["errors"].values()) == 8
    assert cell.figures["requests_per_s"] > 0
    assert cell.figures["ttft_ms"] is None


def test_a_server_that_does_not_start_fails_its_cells_with_what_its_log_means(
    allowed: None, make_sweep: Make, scripted: Any
) -> None:
    profile = scripted("bad")
    profile.arguments.append("{parallel}")
    profile.save()
    sweep = make_sweep(
        profile=profile, grid={"runtime_parallel": (1, 2), "client_concurrency": (1, 2)}
    )
    execute(sweep.pk)
    sweep.refresh_from_db()
    assert sweep.state == SweepState.FINISHED
    for cell in sweep.cells.all():
        assert (cell.state, cell.failure_class) == (CellState.FAILED, "init_failed")
        assert "The weights do not fit" in cell.explanation
        assert cell.launch and any("shape mismatch" in line for line in cell.launch.log_tail)
    assert outcome.failures(sweep) == 2, "a server counts once, however many cells it had"


def test_a_hostile_value_stays_one_argument_of_the_launched_program(
    allowed: None, make_sweep: Make, scripted: Any
) -> None:
    profile = scripted("bad")
    profile.arguments.append("{model_path}")
    profile.save()
    execute(make_sweep(profile=profile, base=Parameters(model_path=HOSTILE)).pk)
    launch = Launch.objects.get()
    assert launch.argv[-1] == HOSTILE
    assert len(launch.argv) == 1 + len(profile.arguments)
    assert any(line.startswith("RuntimeError") for line in launch.log_tail), "it was started"


def test_it_stops_at_its_own_rule_and_says_what_was_not_measured(
    allowed: None, make_sweep: Make, scripted: Any
) -> None:
    profile = scripted("bad")
    profile.arguments.append("{parallel}")
    profile.save()
    sweep = make_sweep(profile=profile, grid={"runtime_parallel": (1, 2)}, max_failures=1)
    execute(sweep.pk)
    sweep.refresh_from_db()
    assert sweep.state == SweepState.FAILED
    assert sweep.explanation.startswith("1 failure, and it was to stop at 1.")
    assert {c.state for c in sweep.cells.all()} == {CellState.FAILED, CellState.SKIPPED}


def test_a_worker_that_may_not_launch_pauses_the_sweep_and_says_what_to_do(
    make_sweep: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ALLOW, raising=False)
    sweep = make_sweep()
    execute(sweep.pk)
    sweep.refresh_from_db()
    assert sweep.state == SweepState.PAUSED
    assert f"{ALLOW}=1 is not set" in sweep.explanation
    assert sweep.cells.get().state == CellState.WAITING
    assert not Launch.objects.exists()


def test_pause_resume_and_cancel_are_rows_that_a_worker_looks_at(
    make_sweep: Make, olive: User
) -> None:
    sweep = make_sweep()
    pause_sweep(actor=olive, sweep=sweep)
    assert claims.claim(sweep.pk, worker="w") is None, "a paused sweep is not taken"
    resume_sweep(actor=olive, sweep=sweep)
    held = claims.claim(sweep.pk, worker="w")
    assert held and claims.claim(sweep.pk, worker="other") is None
    pause_sweep(actor=olive, sweep=sweep)
    assert claims.wish_of(held) == "pause"
    resume_sweep(actor=olive, sweep=sweep)
    assert claims.wish_of(held) == ""
    cancel_sweep(actor=olive, sweep=sweep)
    pause_sweep(actor=olive, sweep=sweep)
    assert claims.wish_of(held) == "cancel", "a pause does not take a cancel back"
    with Watch(held, 60) as watch:
        cancelled = threading.Event()
        while watch.wish != "cancel":
            cancelled.wait(0.05)
        state, words = executor.conduct(sweep, watch, "w")
    assert claims.leave(held, state, words)
    sweep.refresh_from_db()
    assert (sweep.state, sweep.explanation) == (SweepState.CANCELLED, "Cancelled by olive.")
    cell = sweep.cells.get()
    assert (cell.state, cell.skip_reason) == (CellState.SKIPPED, claims.CANCELLED_CELL)
    with pytest.raises(SweepRefused, match="does not run"):
        cancel_sweep(actor=olive, sweep=sweep)


def test_a_lost_worker_gives_the_sweep_back_and_only_the_unfinished_cell_waits(
    served: Deployment, olive: User, rung: list[int], settings: Any
) -> None:
    sweep = start_sweep(
        actor=olive, deployment=served, grid=Grid(client_concurrency=(1, 2), warm_up=0), seed=1
    )
    held = claims.claim(sweep.pk, worker="first")
    assert held
    with Watch(held, 60) as watch:
        first = Sweeping(sweep, watch, "first")
        cell = first.waiting().first()
        with first.server(None) as server:
            assert cell
            first.run_cell(cell, server)
    done = sweep.cells.get(state=CellState.DONE)
    assert done.outcome == Outcome.FAIL and done.failure_class == "connect_failed"
    Sweep.objects.update(heartbeat_at="2020-01-01T00:00:00Z")
    assert claims.reap() == [sweep.pk]
    assert not claims.beat(held), "the lost worker writes nothing more"
    execute(sweep.pk, worker="second")
    sweep.refresh_from_db()
    assert sweep.state == SweepState.FINISHED
    assert sweep.cells.filter(state=CellState.DONE).count() == 2
    assert Run.objects.count() == 2, "the finished cell was not run again"


def test_a_worker_that_is_being_stopped_gives_the_sweep_back(
    served: Deployment, olive: User, rung: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = start_sweep(actor=olive, deployment=served, grid=Grid())
    stopping = threading.Event()
    stopping.set()
    monkeypatch.setattr(workers, "stopping", stopping)
    execute(sweep.pk)
    sweep.refresh_from_db()
    assert (sweep.state, sweep.explanation) == (SweepState.PLANNED, executor.STOPPED)
    assert sweep.cells.get().state == CellState.WAITING


def test_a_fault_of_our_own_ends_the_sweep_and_leaves_no_cell_open(
    served: Deployment, olive: User, rung: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(outcome, "end", broken)
    grid = Grid(client_concurrency=(1, 2), warm_up=0)
    sweep = start_sweep(actor=olive, deployment=served, grid=grid)
    execute(sweep.pk)
    sweep.refresh_from_db()
    assert sweep.state == SweepState.FAILED
    assert "RuntimeError" in sweep.explanation and "secret" not in sweep.explanation
    begun, left = sweep.cells.all()
    assert (begun.state, begun.failure_class) == (CellState.DONE, "interrupted")
    assert (left.state, left.skip_reason) == (CellState.SKIPPED, claims.LEFT_CELL)


def test_a_profile_of_another_runtime_is_never_launched(make_sweep: Make, profiles: None) -> None:
    with pytest.raises(ValueError, match="Nothing is carried from one runtime to another"):
        make_sweep(profile=LaunchProfile.objects.get(key="vllm"))
