from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest

from runs.engine.memory import MemorySampler, footprint, process
from runs.engine.memory.bounded import Bounded, Hung
from runs.engine.memory.sampler import FIGURES
from runs.engine.tests.listening import Listening, free_port, listening
from runs.engine.tests.running import Recorder

MB = 1_000_000
DEADLINE_S = 20
Sample = dict[str, Any]


@pytest.fixture
def server() -> Iterator[Listening]:
    with listening() as process:
        yield process


@contextmanager
def sampling(url: str) -> Iterator[tuple[MemorySampler, Recorder]]:
    recorder = Recorder()
    sampler = MemorySampler(url, recorder, interval_s=0.02)
    sampler.start()
    try:
        yield sampler, recorder
    finally:
        sampler.stop()


def sample_where(recorder: Recorder, holds: Callable[[Sample], bool]) -> Sample:
    """The first sample from now on for which it holds; fails after a deadline."""
    seen = len(recorder.events)
    give_up_s = time.monotonic() + DEADLINE_S
    pause = threading.Event()
    while time.monotonic() < give_up_s:
        for sample in recorder.of("memory.sample")[seen:]:
            if holds(sample):
                return sample
        pause.wait(0.01)
    raise AssertionError(f"no such sample; the last one is {recorder.events[-1:]}")


def any_sample(sample: Sample) -> bool:
    return True


def measured(sample: Sample) -> bool:
    return not sample["gap"]


def test_it_finds_the_process_that_listens(server: Listening) -> None:
    with sampling(server.url) as (sampler, recorder):
        sample = sample_where(recorder, measured)
        found = sampler.process

    assert found is not None
    assert found.pid == server.process.pid == sample["pid"]
    assert found.started_s == psutil.Process(found.pid).create_time()
    assert sample["process_started_s"] == found.started_s
    assert sampler.reason == ""


def test_it_tells_the_memory_of_the_process_and_of_the_machine(server: Listening) -> None:
    with sampling(server.url) as (_, recorder):
        sample = sample_where(recorder, lambda s: measured(s) and s["uss_bytes"] is not None)

    assert sample["processes"] == 1
    assert 0 < sample["uss_bytes"] <= sample["rss_bytes"] < sample["system_total_bytes"]
    assert 0 < sample["system_available_bytes"] < sample["system_total_bytes"]
    assert sample["swap_used_bytes"] >= 0
    assert sample[sample["figure"]] is not None


def test_it_sees_the_process_allocate(server: Listening) -> None:
    with sampling(server.url) as (_, recorder):
        before = sample_where(recorder, measured)
        server.hold(80 * MB)
        after = sample_where(recorder, lambda s: s["rss_bytes"] > before["rss_bytes"] + 70 * MB)

    assert after["pid"] == before["pid"]


def test_it_sums_the_children_too(server: Listening) -> None:
    with sampling(server.url) as (_, recorder):
        before = sample_where(recorder, measured)
        server.spawn(80 * MB)
        after = sample_where(recorder, lambda s: s["processes"] == 2)

    assert after["rss_bytes"] > before["rss_bytes"] + 70 * MB
    assert after["pid"] == server.process.pid


def test_it_says_that_the_server_died(server: Listening) -> None:
    with sampling(server.url) as (sampler, recorder):
        sample_where(recorder, measured)
        server.die()
        gap = sample_where(recorder, lambda s: bool(s["gap"]))
        sample_where(recorder, any_sample)

    assert "has ended" in gap["gap"]
    assert gap["pid"] is None
    assert all(gap[figure] is None for figure in FIGURES)
    assert gap["system_available_bytes"] > 0
    assert sampler.process is None
    assert "has ended" in sampler.reason  # still why, though the port is looked for again


def test_it_follows_a_restart_and_tells_it_by_pid_and_start(server: Listening) -> None:
    with sampling(server.url) as (sampler, recorder):
        before = sample_where(recorder, measured)
        server.die()
        sample_where(recorder, lambda s: bool(s["gap"]))
        with listening(server.port) as again:
            after = sample_where(recorder, measured)
            found = sampler.process

    assert found is not None
    assert after["pid"] == found.pid == again.process.pid != before["pid"]
    assert after["process_started_s"] > before["process_started_s"]


def test_it_says_when_nobody_listens() -> None:
    port = free_port()
    with sampling(f"http://127.0.0.1:{port}/v1") as (sampler, recorder):
        sample = sample_where(recorder, any_sample)

    assert f"port {port}" in sample["gap"]
    assert sampler.process is None
    assert sampler.reason == sample["gap"]
    assert sample["rss_bytes"] is None
    assert sample["system_total_bytes"] > 0


def test_it_says_that_another_machine_cannot_be_measured() -> None:
    with pytest.raises(process.NotMeasurable, match="another machine"):
        process.find_server("http://192.0.2.1:8080/v1")


def test_it_says_when_the_system_does_not_let_us_look(
    server: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> int:
        raise psutil.AccessDenied(server.process.pid)

    monkeypatch.setattr(process, "listener", denied)

    with pytest.raises(process.NotMeasurable, match="does not let us see"):
        process.find_server(server.url)


def test_it_lets_a_process_that_may_not_be_read_be_a_gap(
    server: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: psutil.Process) -> None:
        raise psutil.AccessDenied(server.process.pid)

    monkeypatch.setattr(psutil.Process, "memory_info", denied)
    with sampling(server.url) as (_, recorder):
        sample = sample_where(recorder, any_sample)

    assert "cannot be read" in sample["gap"]
    assert sample["rss_bytes"] is None


def test_it_leaves_detail_empty_rather_than_too_small(
    server: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.spawn(MB)
    whole = psutil.Process.memory_full_info

    def main_only(one: psutil.Process) -> Any:
        if one.pid != server.process.pid:
            raise psutil.AccessDenied(one.pid)
        return whole(one)

    monkeypatch.setattr(psutil.Process, "memory_full_info", main_only)
    tree = process.tree_of(process.find_server(server.url))

    memory = process.measure(tree, in_detail=True)

    assert memory.processes == 2
    assert memory.rss_bytes > 0
    assert memory.uss_bytes is None
    assert memory.pss_bytes is None


def test_it_records_a_call_that_hangs_as_a_gap_and_goes_on(
    server: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, whole = threading.Event(), psutil.Process.memory_info

    def hangs(one: psutil.Process) -> Any:
        released.wait(DEADLINE_S)
        return whole(one)

    monkeypatch.setattr("runs.engine.memory.sampler.DEADLINE_S", 0.05)
    monkeypatch.setattr(psutil.Process, "memory_info", hangs)
    with sampling(server.url) as (_, recorder):
        gap = sample_where(recorder, lambda s: "took more than" in s["gap"])
        released.set()
        sample_where(recorder, measured)

    assert gap["rss_bytes"] is None
    assert gap["system_total_bytes"] > 0


def test_its_thread_has_ended_once_it_is_stopped(server: Listening) -> None:
    with sampling(server.url) as (_, recorder):
        sample_where(recorder, any_sample)

    assert not any(t.name == "memory-sampler" for t in threading.enumerate())


def test_a_bounded_call_starts_no_second_one_while_the_first_hangs() -> None:
    released, calls = threading.Event(), []

    def call() -> int:
        calls.append(1)
        released.wait(DEADLINE_S)
        return len(calls)

    bounded = Bounded(call, deadline_s=0.01)
    for _ in range(3):
        with pytest.raises(Hung):
            bounded()
    released.set()
    patient = time.monotonic() + DEADLINE_S
    answer = None
    while answer is None and time.monotonic() < patient:
        try:
            answer = bounded()
        except Hung:
            continue

    assert answer == 1


def test_a_bounded_call_passes_on_what_was_raised() -> None:
    def call() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        Bounded(call, deadline_s=DEADLINE_S)()


def test_it_reads_the_footprint_where_the_kernel_puts_it() -> None:
    usage = bytearray(96)
    usage[72:80] = (123_456_789).to_bytes(8, sys.byteorder)

    assert footprint.read_footprint(bytes(usage)) == 123_456_789
    assert footprint.read_footprint(bytes(96)) is None


def test_it_has_no_footprint_where_the_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("ctypes.CDLL", _missing)

    assert footprint.footprint_bytes(1) is None


def _missing(path: str) -> None:
    raise OSError(f"{path} is not here")
