"""Telemetry: what each runtime tells of its load, asked beside a run and rarely."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from runs.engine.plan import Target
from runs.engine.runtimes.base import Load
from runs.engine.runtimes.llamacpp import LlamaCpp, kv_usage
from runs.engine.telemetry import TelemetrySampler, sample
from runs.engine.tests.answers import recorded, serving
from runs.engine.tests.running import Recorder

DEADLINE_S = 20.0


def told(runtime: str, name: str, least: int = 1) -> list[dict[str, Any]]:
    """Samples of a server with recorded answers."""
    recorder = Recorder()
    with serving(recorded(name)) as root:
        sampler = TelemetrySampler(Target(f"{root}/v1", "m", runtime=runtime), recorder, 0.1)
        sampler.start()
        deadline, pause = time.monotonic() + DEADLINE_S, threading.Event()
        while len(recorder.of("telemetry.sample")) < least and time.monotonic() < deadline:
            pause.wait(0.02)
        sampler.stop()
    return recorder.of("telemetry.sample")


@pytest.mark.parametrize(
    ("runtime", "name", "expected"),
    [
        ("vllm", "vllm", {"slots_busy": 0, "requests_waiting": 0, "kv_usage_ratio": 0.0}),
        ("omlx", "omlx", {"server_memory_bytes": 564994928, "prompt_tokens_total": 36}),
        ("mtplx", "mtplx", {"slots_busy": 0, "requests_waiting": 0}),
        ("ollama", "ollama", {"server_memory_bytes": 5225388164}),
        ("llama.cpp", "xllamacpp", {"slots": 4, "slots_busy": 0, "kv_usage_ratio": 0.0}),
    ],
)
def test_it_takes_what_each_runtime_tells(
    runtime: str, name: str, expected: dict[str, float]
) -> None:
    first = told(runtime, name)[0]
    assert first["gap"] == ""
    assert expected.items() <= first.items()


def test_it_tells_of_a_look_without_an_answer_as_a_gap() -> None:
    recorder = Recorder()
    with serving({}) as root:
        closed = root
    sampler = TelemetrySampler(Target(f"{closed}/v1", "m", runtime="vllm"), recorder, 0.1)
    sampler.start()
    deadline, pause = time.monotonic() + DEADLINE_S, threading.Event()
    while not recorder.events and time.monotonic() < deadline:
        pause.wait(0.02)
    sampler.stop()
    payload = recorder.of("telemetry.sample")[0]
    assert payload["gap"] and "slots_busy" not in payload


def test_it_never_asks_a_llama_server_more_often_than_it_may() -> None:
    """A busy server notices a vanished client only in a second without other questions."""
    assert LlamaCpp.poll_pause_s > 1
    assert len(told("llama.cpp", "xllamacpp")) == 1, "a tenth of a second was asked for"


def test_it_adds_up_what_slots_hold() -> None:
    busy = {"n_ctx": 100, "n_prompt_tokens": 30, "next_token": [{"n_decoded": 20}]}
    old = {"n_ctx": 100, "n_prompt_tokens": 10, "next_token": {"n_decoded": 40}}
    assert kv_usage([busy, old]) == 0.5
    assert kv_usage([{"id": 0}, "nonsense"]) is None


def test_it_leaves_out_what_is_not_told() -> None:
    assert sample(Load()) == {"gap": ""}
