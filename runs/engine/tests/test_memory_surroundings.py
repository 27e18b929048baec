"""Orphaned workers, what macOS says in its own words, and how often is looked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from runs.engine.memory.macos import compressed_and_pressure, read_compressed, read_pressure
from runs.engine.memory.process import measure, tree_of
from runs.engine.memory.sampler import pause_s

HELD = 60_000_000
# A server whose launcher has ended: its worker has no parent in the tree any more.
LEADER = f"""
import subprocess, sys
WORKER = "held = b'x' * {HELD}; print('held', flush=True); import sys; sys.stdin.read()"
LAUNCHER = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]])"
subprocess.run([sys.executable, "-c", LAUNCHER, WORKER])
sys.stdin.read()
"""
VM_STAT = """Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               12345.
Pages wired down:                        203040.
Pages stored in compressor:              900000.
Pages occupied by compressor:            250000.
"""


@pytest.mark.parametrize("own_group", [True, False])
def test_it_counts_workers_that_lost_their_parent_where_the_server_leads_a_group(
    own_group: bool,
) -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", LEADER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=own_group,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        assert server.stdout.readline() == b"held\n"
        tree = tree_of(psutil.Process(server.pid))
        rss = measure(tree, in_detail=False).rss_bytes
        assert (rss > HELD) is own_group, "another group's orphans are not told apart"
    finally:
        server.stdin.close()
        if own_group:
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        server.stdout.close()


def test_it_reads_what_macos_says() -> None:
    assert read_compressed(VM_STAT) == 250_000 * 16_384
    assert read_compressed("vm_stat: command not found") is None
    assert read_pressure("4\n") == 4 and read_pressure("") is None


def test_it_asks_macos_only_on_macos() -> None:
    assert set(compressed_and_pressure()) == (
        {"system_compressed_bytes", "pressure_level"} if sys.platform == "darwin" else set()
    )


def test_it_looks_fast_in_a_probe_and_slowly_in_a_soak() -> None:
    assert pause_s(0.5, 60) == 0.5
    assert pause_s(0.5, 3600) == 3.0
    assert pause_s(0.5, 7 * 86_400) == 5.0
