"""The demo runtime is a real llama.cpp server, and ends when it is told to."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from demo.fixtures import ROOT, free_port, wait_until_ready
from demo.server import MISSING, TEMPLATE, demo_model
from runs.engine.runtimes.detect import discover


@pytest.mark.real_server
async def test_it_is_discovered_with_its_file_slots_and_context(demo_server: str) -> None:
    discovery = await discover(demo_server)
    facts = discovery.facts
    assert (discovery.runtime, discovery.model) == ("llama.cpp", "smollm2-135m")
    assert facts.file == str(demo_model())
    assert (facts.parallel, facts.context_per_slot, facts.context_total) == (4, 4096, 16384)
    assert "tools" in facts.capabilities
    assert discovery.process
    assert discovery.process.holds(facts.file)


@pytest.mark.real_server
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly_when_told_to(demo_server: str, number: signal.Signals) -> None:
    port = free_port()
    command = [sys.executable, "-m", "demo.server", "--port", str(port), "--slots", "1"]
    process = subprocess.Popen(
        [*command, "--context-per-slot", "512"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        wait_until_ready(process, f"http://127.0.0.1:{port}/health")
        process.send_signal(number)
        output, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 0
    assert f"listening on http://127.0.0.1:{port}" in output
    assert output.endswith("stopped\n")


def test_it_says_how_to_install_what_is_missing() -> None:
    assert "requirements-demo.txt" in MISSING.format("no module")
    assert "DEMO=0" in MISSING


def test_its_chat_template_renders_tools() -> None:
    assert "<tools>" in TEMPLATE.read_text()
