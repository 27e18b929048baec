"""Launching real servers: registered as what they are, stopped whole, explained when they fail."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import psutil
import pytest

from catalog.models import Artifact, Deployment
from catalog.runtimes import ensure_runtime
from runs.launch import running
from runs.launch.arguments import Parameters
from runs.launch.cleanup import clean_up
from runs.launch.models import Launch, LaunchProfile, LaunchState
from runs.launch.permission import PROGRAMS, LaunchRefused, require_launch
from runs.launch.process import is_alive, members
from runs.launch.readiness import LaunchFailed
from runs.launch.running import launched
from runs.tests.worker import ROOT, worker_environment
from tests.servers import eventually

P2 = Parameters(parallel=2, context_per_slot=512)
Make = Callable[..., LaunchProfile]


@pytest.mark.real_server
def test_it_launches_the_demo_server_registers_it_and_leaves_nothing(
    allowed: None, needs_demo: None, demo_profile: LaunchProfile, deployment: Deployment
) -> None:
    with launched(profile=demo_profile, parameters=P2, deployment=deployment) as launch:
        assert launch.revision and launch.endpoint
        revision = launch.revision
        assert (revision.parallel, revision.context_per_slot) == (2, 512)
        assert revision.context_total == 1024
        assert not revision.is_active
        assert not launch.endpoint.is_active
        assert revision.extra["launch_profile"] == "demo"
        assert "{port}" in revision.extra["arguments"]
        assert launch.load_ms and launch.load_ms > 0
        health = httpx.get(launch.endpoint.base_url.replace("/v1", "/health"))
        assert health.status_code == 200
    launch.refresh_from_db()
    assert launch.state == LaunchState.STOPPED
    assert any("listening" in line for line in launch.log_tail)
    assert members(launch.trace) == []
    with launched(profile=demo_profile, parameters=P2, deployment=deployment) as again:
        assert again.revision == revision, "the same configuration is the same revision"


@pytest.mark.real_server
def test_it_refuses_a_server_that_gives_less_than_was_asked_for(
    allowed: None, needs_demo: None, demo_profile: LaunchProfile, deployment: Deployment
) -> None:
    demo_profile.arguments = [
        "2" if word == "{parallel}" else word for word in demo_profile.arguments
    ]
    parameters = Parameters(parallel=4, context_per_slot=512)
    with (
        pytest.raises(LaunchFailed, match="4 slots were asked for, and the server runs 2"),
        launched(profile=demo_profile, parameters=parameters, deployment=deployment),
    ):
        pytest.fail("it must not get here")
    assert members(Launch.objects.get().trace) == []
    assert not deployment.revisions.exists()


def test_it_says_what_the_last_words_mean_and_keeps_them(
    allowed: None, scripted: Make, deployment: Deployment
) -> None:
    with (
        pytest.raises(LaunchFailed, match=r"exit code 3\. The weights do not fit") as failed,
        launched(profile=scripted("bad"), parameters=P2, deployment=deployment),
    ):
        pytest.fail("it must not get here")
    launch = Launch.objects.get()
    assert failed.value.failure_class == launch.failure_class == "init_failed"
    assert launch.state == LaunchState.FAILED
    assert any("shape mismatch" in line for line in launch.log_tail)


def test_it_ends_a_server_that_never_gets_ready(
    allowed: None, scripted: Make, deployment: Deployment
) -> None:
    profile = scripted("deaf", ready_s=1)
    with (
        pytest.raises(LaunchFailed, match="did not get ready in time"),
        launched(profile=profile, parameters=P2, deployment=deployment),
    ):
        pytest.fail("it must not get here")
    assert members(Launch.objects.get().trace) == []


def test_it_stops_waiting_when_told_to(
    allowed: None, scripted: Make, deployment: Deployment
) -> None:
    with (
        pytest.raises(LaunchFailed) as failed,
        launched(
            profile=scripted("deaf"), parameters=P2, deployment=deployment, stop=lambda: True
        ),
    ):
        pytest.fail("it must not get here")
    assert failed.value.failure_class == "cancelled"
    assert members(Launch.objects.get().trace) == []


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"status":"ok"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def stranger() -> Iterator[int]:
    """The port of somebody else's healthy server."""
    with HTTPServer(("127.0.0.1", 0), Healthy) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_it_does_not_take_somebody_elses_server_for_its_own(
    allowed: None,
    scripted: Make,
    deployment: Deployment,
    stranger: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "free_port", lambda: stranger)
    with (
        pytest.raises(LaunchFailed, match=f"Another program .* answers at port {stranger}"),
        launched(profile=scripted("deaf"), parameters=P2, deployment=deployment),
    ):
        pytest.fail("it must not get here")
    assert httpx.get(f"http://127.0.0.1:{stranger}/health").status_code == 200


def test_it_starts_nothing_where_the_environment_does_not_say_so(
    scripted: Make, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLEANPASS_ALLOW_LAUNCH", raising=False)
    with (
        pytest.raises(LaunchRefused, match="CLEANPASS_ALLOW_LAUNCH=1 is not set"),
        launched(profile=scripted("deaf"), parameters=P2, deployment=deployment),
    ):
        pytest.fail("it must not get here")
    assert not Launch.objects.exists()


def test_it_starts_only_the_commands_that_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {
        "CLEANPASS_ALLOW_LAUNCH": "1",
        PROGRAMS: f"llama-server; {sys.executable} -m demo.server",
    }
    require_launch(["llama-server", "-m", "x.gguf"], environment)
    require_launch([sys.executable, "-m", "demo.server", "--port", "1"], environment)
    for argv in (["vllm", "serve"], [sys.executable, "-c", "print(1)"], [sys.executable]):
        with pytest.raises(LaunchRefused, match="not among the programs"):
            require_launch(argv, environment)


def test_it_refuses_another_runtime_another_host_and_a_budget_without_room(
    allowed: None, scripted: Make, deployment: Deployment
) -> None:
    def refused(words: str, profile: LaunchProfile) -> None:
        with (
            pytest.raises(LaunchRefused, match=words),
            launched(profile=profile, parameters=P2, deployment=deployment),
        ):
            pytest.fail("it must not get here")

    profile = scripted("deaf", memory_budget_mib=2_000_000_000)
    refused("budget is 2,000,000,000 MiB", profile)
    profile.runtime = ensure_runtime("vllm")
    refused("Nothing is carried from one runtime to another", profile)
    profile.by_hand = "Start it yourself."
    refused("Start it yourself", profile)
    assert not Launch.objects.exists()


def test_it_refuses_a_server_that_loaded_another_file(
    allowed: None, demo_profile: LaunchProfile, deployment: Deployment, needs_demo: None
) -> None:
    deployment.artifact = Artifact.objects.create(name="Other", file_name="other.gguf")
    with (
        pytest.raises(LaunchFailed, match=r"other\.gguf was expected") as failed,
        launched(profile=demo_profile, parameters=P2, deployment=deployment),
    ):
        pytest.fail("it must not get here")
    assert failed.value.failure_class == "identity_mismatch"


WORKER = """
import django; django.setup()
from catalog.models import Deployment
from runs.launch.arguments import Parameters
from runs.launch.models import LaunchProfile
from runs.launch.running import launched
profile = LaunchProfile.objects.get(key="scripted-family")
deployment = Deployment.objects.get()
with launched(profile=profile, parameters=Parameters(), deployment=deployment):
    pass
"""


@pytest.mark.django_db(transaction=True)
def test_it_cleans_up_after_a_worker_that_was_killed(
    allowed: None, scripted: Make, deployment: Deployment, tmp_path: Path
) -> None:
    scripted("family", ready_s=600)
    env = {**worker_environment(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    worker = subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, env=env)
    try:
        eventually(lambda: len(left()) == 3, deadline_s=40, what="the family is there")
        assert clean_up() == [], "a living worker's servers are its own"
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
    family = left()
    [launch] = clean_up()
    assert launch.state == LaunchState.CLEANED
    # The leader may have ended by itself meanwhile: it spoke into a pipe that nobody reads.
    assert re.search(r"stopped what was left: [23] processes", launch.explanation)
    assert not any(is_alive(process) for process in family)
    assert clean_up() == []


def left() -> list[psutil.Process]:
    return [process for launch in Launch.objects.all() for process in members(launch.trace)]


def test_it_leaves_alone_who_now_has_the_process_id_of_a_launch(
    allowed: None, scripted: Make, deployment: Deployment
) -> None:
    Launch.objects.create(
        profile=scripted("deaf"),
        deployment=deployment,
        host=deployment.host,
        mark="a mark of long ago",
        pid=os.getpid(),
        pid_created_s=1.0,
        worker_pid=2**22 - 1,
        worker_created_s=1.0,
    )
    [launch] = clean_up()
    assert "0 processes" in launch.explanation
