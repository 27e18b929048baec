"""A run from its first look to its outcome, on servers that behave and servers that do not."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from runs.engine.guards import Limits
from runs.engine.outcomes import Outcome
from runs.engine.plan import CheckSpec
from runs.engine.session import run_plan, run_plan_sync
from runs.engine.tests.obedient import MODEL, Obedient, serving
from runs.engine.tests.running import Recorder, plan, run


async def test_it_reports_a_clean_pass_and_every_request() -> None:
    with serving(Obedient()) as base_url:
        report = await run(base_url, "marker", "chat", "stream")
    assert report.outcome is Outcome.CLEAN_PASS
    assert [c.key for c in report.checks] == ["marker", "chat", "stream"]
    assert [r.index for r in report.requests] == [0, 1, 2]
    assert report.load_ms is None
    assert report.instrument["seed"] > 0
    json.dumps(report.as_dict())


async def test_it_tells_what_happens_in_the_order_in_which_it_happens() -> None:
    recorder = Recorder()
    with serving(Obedient()) as base_url:
        await run(base_url, "marker", observer=recorder)
    kinds = [kind for kind, _ in recorder.events if kind not in ("note", "request.progress")]
    assert kinds[0] == "run.started"
    assert kinds[-1] == "run.finished"
    story = list(dict.fromkeys(kinds))
    assert story == [
        "run.started",
        "check.started",
        "request.queued",
        "request.phase",
        "request.finished",
        "check.finished",
        "run.finished",
    ]
    times = [payload["t_ms"] for _, payload in recorder.events]
    assert times == sorted(times)
    assert recorder.of("request.phase")[-1]["phase"] == "done"
    json.dumps(recorder.events)


async def test_it_finds_out_the_model_when_the_plan_leaves_it_open() -> None:
    model = Obedient()
    with serving(model) as base_url:
        report = await run(base_url, "marker")
    assert model.asked[0]["model"] == MODEL
    assert report.identity_after.status == "alias_only"


async def test_a_name_that_the_server_does_not_have_fails_the_run() -> None:
    with serving(Obedient()) as base_url:
        report = await run(base_url, "marker", model="another", runtime="openai")
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "identity_mismatch")


async def test_an_identity_without_proof_degrades_the_identity_check_alone() -> None:
    with serving(Obedient()) as base_url:
        report = await run(base_url, "identity", "marker")
    assert [c.failure_class for c in report.checks] == ["identity_unverified", ""]
    assert report.outcome is Outcome.DEGRADED


async def test_a_change_of_the_model_during_the_run_voids_it() -> None:
    model = Obedient()

    def rename(kind: str, payload: dict[str, Any]) -> None:
        if kind == "check.finished":
            model.model = "swapped"

    with serving(model) as base_url:
        # With vLLM the listed names are those of the loaded model.
        recorder = Recorder(rename)
        report = await run(base_url, "marker", observer=recorder, model=MODEL, runtime="vllm")
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "identity_mismatch")
    assert "changed during the run" in report.explanation


async def test_a_loading_server_is_waited_for_and_the_wait_is_its_own_figure() -> None:
    with serving(Obedient(loading_answers=3)) as base_url:
        report = await run(base_url, "marker", model=MODEL, runtime="openai")
    assert report.outcome is Outcome.CLEAN_PASS
    assert report.load_ms
    assert report.load_ms > 1000


async def test_a_server_that_never_gets_ready_is_an_init_failure() -> None:
    with serving(Obedient(loading_answers=10_000)) as base_url:
        report = await run(base_url, "marker", model=MODEL, runtime="openai")
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "init_failed")
    assert report.requests == []


async def test_an_unreachable_server_is_one_clear_sentence_and_no_pile_of_failures() -> None:
    began = time.monotonic()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        report = await run(address, "marker", "chat", "stream")
    assert time.monotonic() - began < 10
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "connect_failed")
    assert "Nothing answers" in report.explanation
    assert [c.figures for c in report.checks] == [{"not_run": True}] * 3


async def test_a_key_is_sent_without_the_line_end_that_files_leave_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAB_KEY", "  sk-local\r\n")
    with serving(model := Obedient()) as base_url:
        report = await run(base_url, "marker", api_key_env="LAB_KEY")
    assert report.outcome is Outcome.CLEAN_PASS
    assert model.keys == ["Bearer sk-local"]


@pytest.mark.parametrize("key", ["sk-1\nX-Other: yes", "sk 1", "sk-ü"])
async def test_a_key_that_no_header_may_carry_is_refused_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("LAB_KEY", key)
    with serving(model := Obedient()) as base_url:
        report = await run(base_url, "marker", api_key_env="LAB_KEY")
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "auth_failed")
    assert report.explanation.startswith("The key in LAB_KEY has ")
    assert key not in report.explanation
    assert model.asked == []


async def test_a_stream_that_breaks_while_the_server_lives_is_no_crash() -> None:
    with serving(Obedient(break_at=0)) as base_url:
        report = await run(base_url, "marker", "chat")
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "truncated_stream")
    assert report.checks[1].outcome is Outcome.CLEAN_PASS


async def test_a_stream_that_breaks_and_a_refused_connection_are_a_crash() -> None:
    with dying() as base_url:
        report = await run(base_url, "marker", "chat", model=MODEL, runtime="openai")
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "process_crash")
    assert report.checks[1].figures == {"not_run": True}


async def test_cancel_ends_the_run_soon_with_what_was_recorded() -> None:
    cancel = threading.Event()
    cancelled_at: list[float] = []

    def stop(kind: str, payload: dict[str, Any]) -> None:
        if kind == "request.progress" and not cancelled_at:
            cancelled_at.append(time.monotonic())
            cancel.set()

    endless = Obedient(token_s=0.02)
    with serving(endless) as base_url:
        checks = ("marker", CheckSpec("concurrency", {"clients": 3}), "chat")
        report = await run(base_url, *checks, observer=Recorder(stop), cancel=cancel)
    assert time.monotonic() - cancelled_at[0] < 3
    assert (report.outcome, report.failure_class) == (Outcome.INCONCLUSIVE, "cancelled")
    assert len(report.checks) == 3
    assert report.checks[2].figures == {"not_run": True}
    assert report.requests
    assert report.identity_before.status == "alias_only"
    assert (report.identity_after.level, report.identity_after.status) == (0, "unverifiable")
    assert report.identity_after.sentence == "Not read again: the run ended before."


async def test_a_run_cancelled_before_it_began_sends_nothing() -> None:
    cancel = threading.Event()
    cancel.set()
    model = Obedient()
    with serving(model) as base_url:
        report = await run(base_url, "marker", cancel=cancel)
    assert model.asked == []
    assert (report.outcome, report.failure_class) == (Outcome.INCONCLUSIVE, "cancelled")


def test_it_runs_in_a_thread_of_its_own_and_samples_memory() -> None:
    recorder = Recorder()
    with serving(Obedient()) as base_url:
        report = run_plan_sync(plan(base_url, "marker"), recorder, threading.Event())
    assert report.outcome is Outcome.CLEAN_PASS
    assert recorder.of("memory.sample")


@contextmanager
def dying() -> Iterator[str]:
    """Answers small questions; at the first request to the model it dies in mid-stream."""
    server = socket.create_server(("127.0.0.1", 0))
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\nconnection: close\r\n"
    models = json.dumps({"object": "list", "data": [{"id": MODEL}]}).encode()

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                request = connection.recv(65536)
                if request.startswith(b"POST"):
                    server.close()
                    chunked = head % b"text/event-stream" + b"transfer-encoding: chunked\r\n\r\n"
                    connection.sendall(chunked + b"10\r\ndata: {")
                    return
                length = b"content-length: %d\r\n\r\n" % len(models)
                connection.sendall(head % b"application/json" + length + models)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    finally:
        server.close()


async def test_a_crossed_memory_limit_stops_the_run_as_the_guard() -> None:
    recorder = Recorder()
    with serving(Obedient(token_s=0.05)) as base_url:
        guarded = replace(plan(base_url, "stream", "chat"), guards=Limits(process_bytes=1))
        report = await run_plan(guarded, recorder, threading.Event())
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "memory_guard")
    assert recorder.of("guard.tripped")[0]["limit"] == "process"
    assert report.checks[1].figures == {"not_run": True}
