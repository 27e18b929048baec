"""A server that really takes memory: each guard stops it, and what it released is told."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psutil
import pytest

from demo.fixtures import ROOT, free_port
from runs.engine import guards
from runs.engine.guards import Limits
from runs.engine.outcomes import Outcome
from runs.engine.records import RunReport
from runs.engine.reporting import Reporter
from runs.engine.session import run_plan
from runs.engine.tests.running import Recorder, plan
from runs.engine.watch import Watch

MIB = 1024**2
READY_S = 20.0


class Server:
    """The hog in a process of its own, on one port."""

    def __init__(self) -> None:
        self.port = free_port()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "runs.memory.tests.hog", str(self.port)], cwd=ROOT
        )
        deadline = time.monotonic() + READY_S
        pause = threading.Event()
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            pause.wait(0.02)
        raise AssertionError("the hog does not listen")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def server() -> Iterator[Server]:
    hog = Server()
    yield hog
    hog.end()


async def guarded(
    server: Server, model: str, limits: Limits, recorder: Recorder, *checks: str
) -> RunReport:
    base_url = f"http://127.0.0.1:{server.port}/v1"
    wanted = plan(base_url, *(checks or ("stream",)), model=model, runtime="openai")
    return await run_plan(replace(wanted, guards=limits), recorder, threading.Event())


def tripped(recorder: Recorder) -> dict[str, Any]:
    (trip,) = recorder.of("guard.tripped")
    return trip


async def test_it_stops_at_the_process_limit_and_tells_what_was_released(server: Server) -> None:
    recorder = Recorder()
    limits = Limits(process_bytes=250 * MIB, available_floor_bytes=1, origin="a test")
    report = await guarded(server, "jump-300", limits, recorder, "stream", "marker")
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "memory_guard")
    trip = tripped(recorder)
    assert trip["limit"] == "process" and trip["sample"]["rss_bytes"] > 250 * MIB
    assert trip["sample"]["pid"] == server.process.pid
    assert report.explanation.startswith("The server's RSS reached")
    assert [r.ending for r in report.requests] == ["cancelled"], "the rest was not sent"
    assert report.checks[1].explanation.startswith("Not run")
    assert report.memory["trip"]["seen"] > 300 * MIB
    assert report.memory["after_trip"]["held_bytes"] < 250 * MIB, "it freed what it held"
    assert any("after the stop" in note["text"] for note in recorder.of("note"))


async def test_it_stops_at_the_systems_floor(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine with 1 GiB and nobody else: the real one's other programs come and go."""
    hog = psutil.Process(server.process.pid)

    def small_machine() -> dict[str, int]:
        return {
            "system_total_bytes": 1024 * MIB,
            "system_available_bytes": 1024 * MIB - hog.memory_info().rss,
        }

    monkeypatch.setattr("runs.engine.memory.sampler.system_memory", small_machine)
    recorder = Recorder()
    limits = Limits(1 << 62, 800 * MIB, 1 << 62, "a test")
    report = await guarded(server, "jump-300", limits, recorder)
    assert report.failure_class == "memory_guard"
    trip = tripped(recorder)
    assert trip["limit"] == "available" and trip["seen"] < 800 * MIB


async def test_it_stops_at_growth_that_lasts(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards, "GROWTH_WINDOW_S", 3.0)
    recorder = Recorder()
    limits = Limits(300 * MIB, 1, 8 * MIB, "a test")
    report = await guarded(server, "grow-40", limits, recorder)
    assert report.failure_class == "memory_guard"
    trip = tripped(recorder)
    assert trip["limit"] == "growth" and 8 * MIB < trip["seen"] < 80 * MIB


async def test_it_lets_a_calm_server_finish_and_reports_its_peak(server: Server) -> None:
    recorder = Recorder()
    report = await guarded(server, "calm-0", Limits(250 * MIB, 1, None), recorder, "chat")
    assert recorder.of("guard.tripped") == []
    assert report.failure_class != "memory_guard"
    assert 5 * MIB < report.memory["peak_bytes"] < 250 * MIB
    assert report.memory["not_observed"] == ""
    assert report.memory["processes"][0]["pid"] == server.process.pid


async def test_it_notices_a_restart_although_the_next_answers_are_fine(server: Server) -> None:
    first = server.process.pid

    def restart(kind: str, payload: dict[str, Any]) -> None:
        if kind == "request.finished" and payload["request"] == 0:
            server.end()
            server.start()

    recorder = Recorder(restart)
    report = await guarded(server, "calm-0", Limits(), recorder, *["stream"] * 9)
    assert len(report.requests) == 9
    pids = [process["pid"] for process in report.memory["processes"]]
    assert pids == [first, server.process.pid]
    assert report.outcome == Outcome.FAIL
    assert report.failure_class == "process_restarted"


def test_it_says_why_memory_of_another_machine_was_not_observed() -> None:
    watch = Watch(plan("http://box.example/v1"), Reporter(Recorder()), threading.Event())
    watch.emit("memory.sample", {"pid": None, "rss_bytes": None, "gap": "It is elsewhere."})
    assert watch.report()["not_observed"] == "It is elsewhere."
    assert watch.report()["peak_bytes"] is None
    assert watch.findings() == [], "not to be seen is no fault of the server"
