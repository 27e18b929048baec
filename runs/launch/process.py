"""One launched server: started in a group of its own, watched, and stopped with all it started.

Pure: no Django. What is ours is told by a mark in its environment and by process id together
with creation time, so that nothing else is ever stopped.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import psutil

from runs.launch.tail import LogTail

MARK = "CLEANPASS_LAUNCH"
# What any program needs; everything else of the worker's environment stays with the worker.
BASE_ENVIRONMENT = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "TZ")
LOOK_S = 0.05
KILL_WAIT_S = 10.0
SAME_MOMENT_S = 0.02


class CannotStart(Exception):
    """The program could not be started at all; the message says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is started. `environment` is added to the base, without the mark."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """How a process is recognised later, also by another worker. `created_s` is epoch time."""

    mark: str
    pid: int | None = None
    created_s: float | None = None


class Launched:
    """A running server of ours and the tail of its log."""

    def __init__(self, command: Command, mark: str) -> None:
        """Raises CannotStart."""
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                list(command.argv),
                env=own_environment(command.environment, mark),
                cwd=command.folder or None,
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(reading)
            raise CannotStart(f"{command.argv[0]} could not be started: {error}.") from error
        finally:
            os.close(writing)
        self.tail = LogTail(reading, secrets=command.secrets)
        self.trace = Trace(mark, self._process.pid, created(self._process.pid))

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for the signal that ended it."""
        return self._process.poll()

    def owns(self, pid: int) -> bool:
        """Whether this process belongs to the server."""
        return any(process.pid == pid for process in members(self.trace))

    def stop(self, *, first: signal.Signals, grace_s: float) -> None:
        """Everything that belongs to it: the signal, the grace, then a kill."""
        stop_tree(self.trace, first=first, grace_s=grace_s)
        self._process.wait(KILL_WAIT_S)
        self.tail.join(1.0)


def own_environment(added: Mapping[str, str], mark: str) -> dict[str, str]:
    base = {name: os.environ[name] for name in BASE_ENVIRONMENT if name in os.environ}
    return {**base, "PYTHONUNBUFFERED": "1", **added, MARK: mark}


def created(pid: int) -> float | None:
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def members(trace: Trace) -> list[psutil.Process]:
    """Every living process of a launch: its leader, what the leader started, and what bears its
    mark although it left the tree. A stranger that got the same process id is none of them."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        if bears_mark(process, trace.mark) or is_leader(process, trace):
            found[process.pid] = process
            for child in children(process):
                found.setdefault(child.pid, child)
    found.pop(os.getpid(), None)
    return [process for process in found.values() if is_alive(process)]


def bears_mark(process: psutil.Process, mark: str) -> bool:
    try:
        return bool(mark) and process.environ().get(MARK) == mark
    except (psutil.Error, OSError):  # another user's, or gone
        return False


def is_leader(process: psutil.Process, trace: Trace) -> bool:
    if process.pid != trace.pid or trace.created_s is None:
        return False
    try:
        return abs(float(process.create_time()) - trace.created_s) < SAME_MOMENT_S
    except psutil.Error:
        return False


def children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.Error:
        return []


def is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def stop_tree(trace: Trace, *, first: signal.Signals, grace_s: float) -> int:
    """Stop a launch, also one of a worker that is gone. Gives how many processes it found."""
    known = members(trace)
    send(known, first)
    wait_gone(known, grace_s)
    late = [*known, *members(trace)]  # started meanwhile, or orphaned by their parent's end
    send(late, signal.SIGKILL)
    wait_gone(late, KILL_WAIT_S)
    return len(known)


def send(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)  # psutil refuses a reused process id
        except psutil.Error:
            continue


def wait_gone(processes: list[psutil.Process], within_s: float) -> None:
    deadline_s = time.monotonic() + within_s
    pause = threading.Event()
    while any(is_alive(process) for process in processes) and time.monotonic() < deadline_s:
        pause.wait(LOOK_S)


def free_port() -> int:
    """A port of this machine that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
