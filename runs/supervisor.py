"""Starts the lab's processes together, shows their output with a name before each line,
starts again what falls over, and ends all of it as one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

COLOURS = {"web": 36, "measure": 32, "ticks": 35, "beat": 34, "demo": 33, "up": 1}
RESTART_DELAY_S = 1.0
GRACE_S = 4.0
# A process that falls over this often within a minute is not started again.
MAX_RESTARTS_PER_MINUTE = 5


def say(name: str, line: str) -> None:
    """One line of output under a name; coloured on a terminal or with FORCE_COLOR."""
    prefix = f"{name:>8} | "
    if sys.stdout.isatty() or os.environ.get("FORCE_COLOR"):
        prefix = f"\x1b[{COLOURS.get(name, 0)}m{prefix}\x1b[0m"
    sys.stdout.write(f"{prefix}{line}\n")
    sys.stdout.flush()


@dataclass
class Child:
    """One process and its history of restarts (monotonic seconds)."""

    name: str
    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None
    restarts: list[float] = field(default_factory=list)

    def start(self) -> None:
        """Start it in a process group of its own, its output read line by line."""
        self.process = subprocess.Popen(
            self.argv,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **self.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        threading.Thread(target=self._pump, args=(self.process,), daemon=True).start()

    def _pump(self, process: subprocess.Popen[str]) -> None:
        if process.stdout is not None:
            for line in process.stdout:
                say(self.name, line.rstrip("\n"))

    @property
    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        """Signal the whole group; one that is already gone is no error."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return

    def may_restart(self, now_s: float) -> bool:
        """Whether it fell over seldom enough in the last minute; records this fall."""
        self.restarts = [at for at in self.restarts if now_s - at < 60]
        self.restarts.append(now_s)
        return len(self.restarts) <= MAX_RESTARTS_PER_MINUTE


class Supervisor:
    """Runs children until `stop` is called or one of them cannot be kept up."""

    def __init__(self, children: list[Child]) -> None:
        self.children = children
        self.stopping = threading.Event()
        self.failed = False

    def start(self) -> None:
        for child in self.children:
            child.start()

    def stop(self) -> None:
        """Ask for the end; `watch` does it. Safe to call from a signal handler."""
        self.stopping.set()

    def watch(self) -> None:
        """Block until stopped; restart what ends by itself. Ends every child before returning."""
        try:
            while not self.stopping.wait(0.3):
                for child in self.children:
                    if child.has_ended:
                        self._ended(child)
        finally:
            self._end_all()

    def _ended(self, child: Child) -> None:
        code = child.process.returncode if child.process else None
        if not child.may_restart(time.monotonic()):
            say("up", f"{child.name} keeps ending (exit code {code}): its last lines say why.")
            self.failed = True
            self.stop()
            return
        say("up", f"{child.name} ended (exit code {code}); starting it again.")
        self.stopping.wait(RESTART_DELAY_S)
        if not self.stopping.is_set():
            child.start()

    def _end_all(self) -> None:
        for child in reversed(self.children):
            child.send(signal.SIGTERM)
        deadline_s = time.monotonic() + GRACE_S
        for child in self.children:
            if child.process is None:
                continue
            try:
                child.process.wait(max(0.0, deadline_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                say("up", f"{child.name} was busy and is stopped now.")
            # Also whatever it started itself and left in its group.
            child.send(signal.SIGKILL)
            child.process.wait()


def wait_for(
    is_ready: Callable[[], bool], *, deadline_s: float, stopping: threading.Event
) -> bool:
    """Ask until ready; False when the time is up or the supervisor is stopping."""
    end_s = time.monotonic() + deadline_s
    while time.monotonic() < end_s:
        if is_ready():
            return True
        if stopping.wait(0.1):
            return False
    return False
