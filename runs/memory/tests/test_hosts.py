"""Hosts: what is resident, what is not known, and the planner with its sources."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings

from catalog.models import Deployment, Host
from demo.server import demo_model
from runs.engine.gguf_header import NotReadable, kv_shape
from runs.memory.budget import limits_for
from runs.memory.planner import plan
from runs.memory.residents import host_memory
from runs.memory.tests.conftest import GIB, write
from runs.memory.tests.test_pages import grown
from runs.models import Run

SMOLLM_BYTES = 30 * 3 * 64 * 2 * 2  # layers x KV heads x head size x keys and values x F16


@pytest.fixture
def here(settings: Settings, deployment: Deployment) -> Deployment:
    settings.LOCAL_HOST_KEY = deployment.host.key
    return deployment


def test_it_computes_the_kv_cache_from_a_real_header() -> None:
    shape = kv_shape(str(demo_model()))
    assert shape.bytes_per_token("") == SMOLLM_BYTES == 23_040
    assert shape.bytes_per_token("Q8_0") == pytest.approx(SMOLLM_BYTES * 34 / 64)
    assert "30 layers" in shape.words and not shape.is_upper_bound
    with pytest.raises(NotReadable):
        shape.bytes_per_token("fp9")


@pytest.mark.parametrize("name", ["missing.gguf", "text.gguf", "weights.safetensors"])
def test_it_says_why_a_file_tells_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if "missing" not in name:
        path.write_text("this is no model " * 20)
    with pytest.raises(NotReadable, match=name):
        kv_shape(str(path))


def test_it_plans_with_the_measured_slope_first(here: Deployment, run: Run) -> None:
    grown(run, 8192, 32768, 65536)
    planned = plan(here, slots=8, context=131072, cache_gib=32)
    assert planned.per_token.origin == "client"
    assert planned.total_bytes == pytest.approx(8 * 131072 * 160_000 + GIB + 32 * GIB)


def test_it_plans_from_the_header_where_nothing_was_measured(here: Deployment, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(
        report={"identity_before": {"facts": {"file": str(demo_model())}}}
    )
    planned = plan(here, slots=2, context=8192, cache_gib=0)
    assert planned.per_token.origin == "file"
    assert planned.context_bytes == 2 * 8192 * SMOLLM_BYTES
    assert planned.per_token.source.startswith("not measured; from the model file's header")


def test_it_plans_nothing_from_nothing(deployment: Deployment) -> None:
    planned = plan(deployment, slots=2, context=8192, cache_gib=0)
    assert planned.total_bytes is None and planned.context_bytes is None
    assert "another machine" in planned.per_token.source


def test_it_sees_the_process_behind_a_local_endpoint(here: Deployment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        here.endpoints.update(base_url=f"http://127.0.0.1:{port}/v1")
        (resident,) = host_memory(here.host).residents
    assert resident.pid == os.getpid()
    assert resident.held_bytes and resident.held_bytes > 10 * 1024**2


def test_it_says_why_a_process_is_not_seen(here: Deployment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    here.endpoints.update(base_url=f"http://127.0.0.1:{port}/v1")
    (resident,) = host_memory(here.host).residents
    assert resident.held_bytes is None and str(port) in resident.reason


def test_it_tells_the_last_sample_of_a_host_elsewhere(deployment: Deployment, run: Run) -> None:
    (resident,) = host_memory(deployment.host).residents
    assert resident.held_bytes is None and "worker" in resident.reason
    write(run, "rss_bytes", np.array([0.0, 1000]), np.array([5.0, 7.0]))
    memory = host_memory(deployment.host)
    assert memory.residents[0].held_bytes == 7 and memory.available_bytes is None


def test_it_shows_host_and_planner_on_a_page(
    page: Callable[[str], str], deployment: Deployment, run: Run
) -> None:
    write(run, "rss_bytes", np.array([0.0]), np.array([7.0 * GIB]))
    grown(run, 8192, 32768, 65536)
    html = page("/hosts/studio/?deployment=small&slots=8&context=131072&cache_gib=32")
    assert "1 of 1 deployments was seen and holds 7 GiB of 512 GiB." in html
    assert "It takes 37% of the host&#x27;s 512 GiB." in html
    assert "measured by us: 156 KiB" in html
    assert "Ensure this value is" in page("/hosts/studio/?deployment=small&slots=0&context=1")


def test_it_takes_limits_from_the_budget_the_host_or_a_person() -> None:
    host = Host(key="h", name="h", memory_bytes=512 * GIB)
    budget = {
        "model_memory_budget_gib": 64,
        "process_memory_guard_pct": 70,
        "hot_cache_gib": 32,
    }
    revision = type("R", (), {"guards": budget})()
    assert limits_for(revision, host).process_bytes == 96 * GIB
    assert "model budget and hot cache" in limits_for(revision, host).origin
    small = Host(key="s", name="s", memory_bytes=100 * GIB)
    assert limits_for(revision, small).process_bytes == 70 * GIB
    typed = limits_for(revision, host, process_limit_gib=8, growth_limit_mib_per_s=100)
    assert typed.process_bytes == 8 * GIB and "typed in" in typed.origin
    assert typed.growth_bytes_per_s == 100 * 1024**2
    assert limits_for(None, host).process_bytes == round(0.7 * 512 * GIB)
    assert limits_for(None, Host(key="x", name="x")).process_bytes is None
