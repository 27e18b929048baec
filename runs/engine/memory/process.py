"""The server's process tree: found by its listening port, measured as a sum."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil

from runs.engine.memory.footprint import footprint_bytes
from runs.engine.runtimes.processes import is_local, listener


class NotMeasurable(Exception):
    """Why there is no process to measure, in words for people."""


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """The main process. `started_s` is epoch time: another value means a restart."""

    pid: int
    started_s: float
    name: str


@dataclass(frozen=True, slots=True)
class TreeMemory:
    """Sums over the tree. RSS counts shared pages once for each process, PSS does not."""

    processes: int
    rss_bytes: int
    footprint_bytes: int | None  # macOS only
    uss_bytes: int | None = None
    pss_bytes: int | None = None  # Linux only


def find_server(base_url: str) -> psutil.Process:
    """The process listening at a local address. Raises NotMeasurable with the reason."""
    address = urlsplit(base_url)
    host = address.hostname or ""
    port = address.port or (443 if address.scheme == "https" else 80)
    if not is_local(host):
        raise NotMeasurable(f"{host} is another machine: its memory cannot be read from here.")
    try:
        pid = listener(port)
        if pid is None:
            raise NotMeasurable(
                f"No process that we may look at listens on port {port}: it belongs to another "
                "user, runs in a container, or is gone."
            )
        return psutil.Process(pid)
    except psutil.AccessDenied as error:
        raise NotMeasurable(
            f"The system does not let us see which process listens on port {port}."
        ) from error
    except (psutil.Error, OSError) as error:
        raise NotMeasurable(f"The process at port {port} cannot be read: {error}") from error


def describe(process: psutil.Process) -> ServerProcess:
    return ServerProcess(process.pid, process.create_time(), process.name())


def is_alive(process: psutil.Process) -> bool:
    """Running still: not a zombie, and not another process with the same number."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def tree_of(process: psutil.Process) -> list[psutil.Process]:
    """The process, its descendants and its orphans. Raises psutil.Error when it is gone."""
    family = [process, *process.children(recursive=True)]
    return family + orphans(process.pid, {member.pid for member in family})


def orphans(leader: int, known: set[int]) -> list[psutil.Process]:
    """Workers whose parent has ended, found by the process group that the server leads.

    A server that was started within somebody else's group has none that could be told apart.
    """
    if group_of(leader) != leader:
        return []
    others = (other for other in psutil.process_iter() if other.pid not in known)
    return [other for other in others if group_of(other.pid) == leader]


def group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except (OSError, AttributeError):  # gone, not ours to see, or a system without groups
        return None


def measure(tree: Iterable[psutil.Process], *, in_detail: bool) -> TreeMemory:
    """Memory of those that still live; `in_detail` walks page tables, which takes longer."""
    processes = rss = 0
    footprints: list[int | None] = []
    details: list[tuple[int | None, int | None]] = []
    for process in tree:
        try:
            rss += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
        processes += 1
        footprints.append(footprint_bytes(process.pid))
        details.append(_detail(process) if in_detail else (None, None))
    return TreeMemory(
        processes,
        rss,
        _sum(footprints),
        uss_bytes=_sum(uss for uss, _ in details),
        pss_bytes=_sum(pss for _, pss in details),
    )


def _detail(process: psutil.Process) -> tuple[int | None, int | None]:
    """(USS, PSS) in bytes, where the OS tells us."""
    try:
        full = process.memory_full_info()
    except (psutil.Error, OSError):
        return None, None
    return full.uss, getattr(full, "pss", None)


def _sum(parts: Iterable[int | None]) -> int | None:
    """A sum with a part missing would look like less memory: it is missing itself."""
    known = list(parts)
    return sum(part or 0 for part in known) if known and None not in known else None
