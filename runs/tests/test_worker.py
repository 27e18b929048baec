"""The whole way through a real worker process: ring, claim, measure, cancel, kill."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.models import Deployment, Endpoint, Host
from people.models import User
from runs import doorbell
from runs.models import HostLease, Run, Suite
from runs.services import cancel_run, start_run
from runs.tasks import tick
from runs.tests.holding_server import HoldingServer, holding_server
from runs.tests.worker import doorbell_app, measuring_worker, queue_folder
from runs.workers import alive_workers
from tests.servers import eventually

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_S = 30.0


@pytest.fixture
def server() -> Iterator[HoldingServer]:
    with holding_server() as server:
        yield server


@pytest.fixture
def worker(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> Iterator[subprocess.Popen[bytes]]:
    monkeypatch.setattr(doorbell, "current_app", doorbell_app(tmp_path))
    with measuring_worker(tmp_path, host.key) as process:
        listening = alive_workers().filter(host_key=host.key)
        eventually(listening.exists, deadline_s=PATIENCE_S, what="the worker is alive")
        yield process


@pytest.fixture
def start(
    olive: User, deployment: Deployment, suite: Suite, server: HoldingServer
) -> Callable[[], Run]:
    Endpoint.objects.update(base_url=server.base_url)
    deployment.runtime.key = "openai"
    deployment.runtime.save()
    return lambda: start_run(actor=olive, deployment=deployment, suite=suite, layer="direct")


def wait_until_it_streams(run: Run, server: HoldingServer) -> None:
    decoding = run.events.filter(kind="request.phase", payload__phase="decode")
    eventually(server.held.is_set, deadline_s=PATIENCE_S, what="the server streams")
    eventually(decoding.exists, deadline_s=PATIENCE_S, what="the first token is stored")


def wait_until_it_ends(run: Run) -> None:
    ended = Run.objects.filter(pk=run.pk, state="finished")
    eventually(ended.exists, deadline_s=PATIENCE_S, what="the run has ended")
    run.refresh_from_db()


def test_a_killed_worker_leaves_an_interrupted_run_with_all_that_was_recorded(
    worker: subprocess.Popen[bytes],
    server: HoldingServer,
    start: Callable[[], Run],
    host: Host,
    settings: Any,
) -> None:
    run = start()
    wait_until_it_streams(run, server)
    worker.send_signal(signal.SIGKILL)
    worker.wait(PATIENCE_S)
    recorded = list(run.events.values_list("seq", "kind"))

    settings.HEARTBEAT_STALE_S = 0.5

    def it_is_over() -> bool:
        tick()
        return Run.objects.filter(pk=run.pk, state="finished").exists()

    eventually(it_is_over, deadline_s=PATIENCE_S, what="the tick ends the run")
    run.refresh_from_db()
    assert (run.outcome, run.failure_class) == ("inconclusive", "interrupted")
    events = list(run.events.values_list("seq", "kind"))
    assert events == [*recorded, (len(recorded) + 1, "run.finished")]
    assert HostLease.objects.get(host=host).run is None


def test_a_cancel_ends_a_held_stream_soon_and_truthfully(
    worker: subprocess.Popen[bytes],
    server: HoldingServer,
    start: Callable[[], Run],
    olive: User,
) -> None:
    run = start()
    wait_until_it_streams(run, server)
    cancel_run(actor=olive, run=run)
    wait_until_it_ends(run)
    assert (run.outcome, run.failure_class) == ("inconclusive", "cancelled")
    assert run.finished_at is not None
    assert run.cancel_requested_at is not None
    assert run.requests.filter(failure_class="cancelled").exists()


def test_a_doubled_message_finds_nothing_to_do(
    worker: subprocess.Popen[bytes],
    server: HoldingServer,
    start: Callable[[], Run],
    tmp_path: Path,
) -> None:
    server.released.set()
    run = start()
    doorbell.ring(run)
    doorbell.ring(run)
    wait_until_it_ends(run)
    queue = queue_folder(tmp_path)
    eventually(
        lambda: not any(queue.glob("*measure*")),
        deadline_s=PATIENCE_S,
        what="every message is taken",
    )
    log = tmp_path / "worker.log"
    eventually(
        lambda: log.read_text().count("nothing left to do") == 2,
        deadline_s=PATIENCE_S,
        what="both doubles were told so",
    )
    assert run.events.filter(kind="run.started").count() == 1
    assert run.events.filter(kind="run.finished").count() == 1


def test_a_stopped_worker_interrupts_its_run_at_once(
    worker: subprocess.Popen[bytes], server: HoldingServer, start: Callable[[], Run]
) -> None:
    run = start()
    wait_until_it_streams(run, server)
    worker.send_signal(signal.SIGTERM)
    worker.wait(PATIENCE_S)
    run.refresh_from_db()
    assert (run.outcome, run.failure_class) == ("inconclusive", "interrupted")
    assert not alive_workers().exists()
