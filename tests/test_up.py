"""`manage.py up`: one command starts everything, Ctrl-C ends everything, the data stays."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.lab import ROOT, Lab
from tests.servers import eventually, free_port


def test_it_refuses_a_taken_port_and_names_a_way_out(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        lab = Lab(tmp_path)
        ended = subprocess.run(
            [sys.executable, "manage.py", "up", "--port", str(port)],
            cwd=ROOT,
            env=lab.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 1
    assert f"Port {port}" in ended.stderr
    assert f"make run PORT={port + 1}" in ended.stderr


@pytest.mark.real_server
def test_it_leaves_no_process_and_keeps_the_data(tmp_path: Path) -> None:
    lab = Lab(tmp_path, env={"CLEANPASS_ADMIN_PASSWORD": ""})
    lab.start()
    assert lab.process is not None
    assert "one-time password" in lab.output
    assert "Demo runtime registered" in lab.output
    family = psutil.Process(lab.process.pid).children(recursive=True)
    assert len(family) >= 5, "web, two workers, scheduler and demo runtime"
    assert lab.stop() == 0
    eventually(
        lambda: not any(child.is_running() for child in family),
        deadline_s=10,
        what="every process of the lab has ended",
    )

    lab.start()
    try:
        assert "one-time password" not in lab.output, "the admin of the first start is kept"
        second = lab.manage("up", "--port", str(free_port()))
        assert second.returncode == 1
        assert "already runs on this data folder" in second.stderr
    finally:
        lab.stop()


@pytest.mark.real_server
def test_it_starts_again_what_falls_over(tmp_path: Path) -> None:
    lab = Lab(tmp_path, env={"DEMO": "0"})
    lab.start()
    try:
        assert lab.process is not None
        children = psutil.Process(lab.process.pid).children()
        worker = next(c for c in children if any("measure." in word for word in c.cmdline()))
        worker.kill()
        eventually(
            lambda: "measure ended (exit code -9); starting it again." in lab.output,
            deadline_s=20,
            what="the worker is started again",
        )
    finally:
        assert lab.stop() == 0
