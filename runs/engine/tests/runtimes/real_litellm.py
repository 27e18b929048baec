"""A LiteLLM gateway in front of the demo server: what a gateway may change, and must not hide."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from demo.fixtures import free_port, running_demo
from runs.engine.outcomes import Outcome
from runs.engine.plan import CheckSpec
from runs.engine.runtimes.detect import discover
from runs.engine.runtimes.gateways import LITELLM
from runs.engine.suites import SMOKE
from runs.engine.tests.running import Recorder, run
from runs.engine.tests.runtimes.programs import HOME, installed, program

pytestmark = pytest.mark.runtimes

KEY = "sk-lab"
NAME = "lab-chat"


@contextmanager
def gateway(upstream: str) -> Iterator[str]:
    """Its base URL."""
    binaries = installed("litellm", "litellm[proxy]==1.106.12")
    port, config = free_port(), HOME / "litellm.json"  # JSON is YAML too
    model = {"model": "openai/smollm2-135m", "api_base": upstream, "api_key": "none"}
    config.write_text(json.dumps({"model_list": [{"model_name": NAME, "litellm_params": model}]}))
    root = f"http://127.0.0.1:{port}"
    listen = ["--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    with program(
        [binaries / "litellm", "--config", config, *listen],
        f"{root}/health/liveliness",
        ready_s=120,
        env={"LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    ):
        yield f"{root}/v1"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)


async def test_answers_pass_through_a_gateway_and_identity_does_not(demo_server: str) -> None:
    with gateway(demo_server) as base_url:
        found = await discover(base_url, api_key_env="LAB_KEY")
        assert (found.gateway, found.model) == (LITELLM, NAME)
        checks = (*SMOKE.checks, CheckSpec("tool"), CheckSpec("repeat", {"tokens": 512}))
        report = await run(base_url, *checks, api_key_env="LAB_KEY")
    unclean = [c.key for c in report.checks if c.outcome is not Outcome.CLEAN_PASS]
    assert unclean == ["identity"], [(c.key, c.explanation) for c in report.checks]
    assert report.identity_after.status == "alias_only"


async def test_with_the_server_behind_it_known_a_gateway_is_clean_as_a_layer(
    demo_server: str,
) -> None:
    with gateway(demo_server) as base_url:
        report = await run(
            base_url, *SMOKE.checks, CheckSpec("tool"), CheckSpec("concurrency", {"clients": 4}),
            model=NAME, runtime="llama.cpp", api_key_env="LAB_KEY", layer="gateway",
            server_url=demo_server, server_model="smollm2-135m",
        )  # fmt: skip
    assert report.outcome is Outcome.CLEAN_PASS, report.explanation
    assert report.identity_after.status == "verified"
    assert report.identity_after.sentence.startswith("Read at the server behind the gateway:")
    assert {request.model_reported for request in report.requests} == {NAME}


async def test_a_server_that_dies_behind_a_gateway_is_never_a_pass() -> None:
    with running_demo("--slots", "1", "--context-per-slot", "2048") as upstream:
        process = (await discover(upstream)).process
        assert process
        killed: list[int] = []

        def kill(kind: str, payload: dict[str, Any]) -> None:
            if kind == "request.progress" and not killed:
                killed.append(process.pid)
                os.kill(process.pid, signal.SIGKILL)

        with gateway(upstream) as base_url:
            report = await run(
                base_url, "cancel", "chat", observer=Recorder(kill), api_key_env="LAB_KEY"
            )
    assert killed
    assert report.outcome is Outcome.FAIL
    assert {r.outcome for r in report.requests[1:]} == {Outcome.FAIL}
