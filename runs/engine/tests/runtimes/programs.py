"""Installs a runtime into an environment of its own, and runs it for a test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import pytest

from demo.fixtures import ROOT, wait_until_ready
from demo.server import demo_model

HOME = Path(os.environ.get("CLEANPASS_VAR") or ROOT / "var") / "runtimes"
INSTALL_S = 1200.0


def installed(name: str, *requirements: str, without: tuple[str, ...] = ()) -> Path:
    """The `bin` folder of an environment with these requirements, made where it is missing.

    `without`: what they bring along and must not stay. The test is skipped, loudly, where the
    installation fails.
    """
    folder, wanted = HOME / name, "\n".join([*requirements, *without])
    done, binaries = folder / "installed", folder / "bin"
    if done.exists() and done.read_text() == wanted:
        return binaries
    pip = [str(binaries / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    commands = [[sys.executable, "-m", "venv", str(folder)], [*pip, "install", *requirements]]
    if without:
        commands.append([*pip, "uninstall", "--yes", *without])
    for command in commands:
        try:
            subprocess.run(command, check=True, timeout=INSTALL_S, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            not_tested(name, error.stderr.strip().splitlines()[-1:] or [str(error)])
        except (OSError, subprocess.TimeoutExpired) as error:
            not_tested(name, [str(error)])
    done.write_text(wanted)
    return binaries


def not_tested(name: str, why: list[str]) -> NoReturn:
    pytest.skip(f"NOT TESTED: {name} cannot be installed here: {why[0]}")


MLX_LM = ("mlx-lm", "mlx[cpu]", "mlx-lm==0.32.2", "gguf")


def demo_weights() -> Path:
    """The demo's model as a folder of safetensors; mlx-lm's environment has what writes it."""
    model, writer = HOME / "smollm2", Path(__file__).with_name("gguf_to_mlx.py")
    if not (model / "tokenizer.json").exists():
        command = [installed(*MLX_LM) / "python", writer, demo_model(), model]
        subprocess.run(command, check=True, timeout=INSTALL_S)
    return model


@contextmanager
def program(
    command: Sequence[str | Path], ready_url: str, *, ready_s: float, env: Mapping[str, str]
) -> Iterator[None]:
    """The program, ready, for as long as the block lasts. What it says goes to a file."""
    log = HOME / f"{Path(command[0]).name}.log"
    with log.open("w") as said:
        process = subprocess.Popen(
            command,
            cwd=HOME,
            env={**os.environ, **env},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            wait_until_ready(process, ready_url, ready_s)
            yield
        finally:
            stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """With everything it started: vLLM's engine would outlive its server."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
