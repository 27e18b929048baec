"""A real sweep in real worker processes, the first of which is killed in the middle."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured

from runs.launch.models import Launch, LaunchState
from runs.launch.process import members
from runs.models import HostLease, Run
from runs.sweeps import doorbell
from runs.sweeps.models import CellState, Sweep, SweepCell, SweepState
from runs.sweeps.tasks import tick_sweeps
from runs.sweeps.tests.conftest import Make
from runs.tasks import tick
from runs.tests.worker import doorbell_app, measuring_worker
from runs.workers import alive_workers
from tests.servers import eventually

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real_server]
PATIENCE_S = 90.0


@pytest.mark.usefixtures("allowed", "needs_demo")
def test_a_killed_worker_loses_one_cell_and_no_server_and_another_goes_on(
    make_sweep: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    sweep = make_sweep(grid={"client_concurrency": (1, 2)})
    first_folder, second_folder = tmp_path / "first", tmp_path / "second"
    cells = SweepCell.objects.filter(sweep=sweep)

    def started(folder: Path) -> None:
        """A worker is alive, and is rung."""
        monkeypatch.setattr(doorbell, "current_app", doorbell_app(folder))
        listening = alive_workers().filter(host_key=configured.LOCAL_HOST_KEY)
        eventually(listening.exists, deadline_s=PATIENCE_S, what="the worker is alive")
        sweep.refresh_from_db()
        doorbell.ring(sweep)

    first_folder.mkdir()
    with measuring_worker(first_folder, configured.LOCAL_HOST_KEY) as worker:
        started(first_folder)
        one_is_over = cells.filter(state=CellState.DONE)
        eventually(one_is_over.exists, deadline_s=PATIENCE_S, what="the first cell is over")
        other_runs = cells.filter(state=CellState.RUNNING, run__state="running")
        eventually(other_runs.exists, deadline_s=PATIENCE_S, what="the second cell runs")
        worker.send_signal(signal.SIGKILL)
        worker.wait(20)
    done, lost = cells.get(state=CellState.DONE), cells.get(state=CellState.RUNNING)
    orphan = Launch.objects.get()
    assert members(orphan.trace), "the killed worker had no time to stop its server"

    settings.HEARTBEAT_STALE_S = 0.5

    def given_back() -> bool:
        tick()
        tick_sweeps()
        sweep.refresh_from_db()
        busy = Run.objects.filter(state="running").exists() or alive_workers().exists()
        return sweep.state == SweepState.PLANNED and not busy

    eventually(given_back, deadline_s=PATIENCE_S, what="the sweep is given back")
    settings.HEARTBEAT_STALE_S = 15.0
    second_folder.mkdir()
    with measuring_worker(second_folder, configured.LOCAL_HOST_KEY) as worker:
        started(second_folder)
        over = Sweep.objects.filter(pk=sweep.pk, state=SweepState.FINISHED)
        eventually(over.exists, deadline_s=PATIENCE_S, what="the sweep is finished")
        worker.send_signal(signal.SIGTERM)
        worker.wait(20)
    check_cells(done, lost)
    orphan.refresh_from_db()
    assert orphan.state == LaunchState.CLEANED
    assert all(members(launch.trace) == [] for launch in Launch.objects.all())
    assert not HostLease.objects.exclude(run=None).exists()


def check_cells(done: SweepCell, lost: SweepCell) -> None:
    """What was finished stays as it was; what was lost was measured anew, and both are whole."""
    was, interrupted = done.run_id, lost.run_id
    done.refresh_from_db()
    lost.refresh_from_db()
    assert (done.run_id, done.attempts) == (was, 1)
    assert lost.run_id != interrupted and lost.attempts == 2
    assert Run.objects.filter(pk=interrupted or 0, failure_class="interrupted").exists()
    for cell in (done, lost):
        assert cell.state == CellState.DONE
        assert cell.revision and cell.revision.parallel == cell.runtime_parallel == 1
        assert cell.run and cell.run.revision == cell.revision
        figures = cell.figures
        assert figures["completed"] == figures["asked"] == cell.client_concurrency
        assert figures["ttft_ms"]["n"] == cell.client_concurrency
        assert figures["prompt_tokens"] > 0
        assert figures["aggregate_tps"] > 0
        assert figures["peak_rss_bytes"] > 0
