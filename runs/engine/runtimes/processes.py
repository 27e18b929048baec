"""The process behind a local address: a hint for memory, and evidence of what it has open."""

from __future__ import annotations

import hashlib
import ipaddress
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil

WEIGHTS = (".gguf", ".safetensors", ".npz", ".bin")
SECRET_FLAGS = ("key", "token", "password", "secret")
BLOCK_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProcessHint:
    """A local server process. `started_s` is epoch time: another value means a restart."""

    pid: int
    started_s: float
    argv: tuple[str, ...]
    weights: tuple[str, ...]  # model files that it has open or mapped

    def holds(self, file: str) -> bool:
        """Whether this model file (or folder) is open, mapped or named in the arguments."""
        if not file:
            return False
        name = Path(file).name
        mapped = any(w == file or Path(w).name == name or file in w for w in self.weights)
        return mapped or any(a == file or Path(a).name == name for a in self.argv)


def find_process(base_url: str) -> ProcessHint | None:
    """The process listening at a local address; None when it is elsewhere or not to be seen."""
    address = urlsplit(base_url)
    port = address.port or (443 if address.scheme == "https" else 80)
    if not is_local(address.hostname or ""):
        return None
    try:
        pid = listener(port)
        return describe(psutil.Process(pid)) if pid else None
    except (psutil.Error, OSError):
        return None


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(socket.gethostbyname(host)).is_loopback
    except (OSError, ValueError):
        return False


def listener(port: int) -> int | None:
    """The process that listens on the port, as far as we may look."""
    try:
        for connection in psutil.net_connections(kind="tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr[1:2] == (port,):
                return connection.pid
    except psutil.AccessDenied:  # macOS shows the whole table to root only
        return next((p.pid for p in psutil.process_iter() if _listens(p, port)), None)
    return None


def _listens(process: psutil.Process, port: int) -> bool:
    try:
        connections = process.net_connections(kind="tcp")
    except psutil.Error:  # another user's
        return False
    return any(c.status == psutil.CONN_LISTEN and c.laddr[1:2] == (port,) for c in connections)


def describe(process: psutil.Process) -> ProcessHint:
    return ProcessHint(
        pid=process.pid,
        started_s=process.create_time(),
        argv=without_secrets(process.cmdline()),
        weights=open_weights(process),
    )


def without_secrets(argv: list[str]) -> tuple[str, ...]:
    """Arguments with the values of key-like flags blanked."""
    shown: list[str] = []
    hide_next = False
    for word in argv:
        name, equals, _ = word.partition("=")
        secret = name.startswith("-") and any(s in name.lower() for s in SECRET_FLAGS)
        shown.append("***" if hide_next else f"{name}=***" if secret and equals else word)
        hide_next = secret and not equals
    return tuple(shown)


def open_weights(process: psutil.Process) -> tuple[str, ...]:
    """Model files that the process has open or mapped into memory."""
    paths: set[str] = set()
    for look in (process.open_files, process.memory_maps):
        try:
            paths.update(entry.path for entry in look())
        except (psutil.Error, OSError, AttributeError):
            continue  # the OS does not tell, or not us
    return tuple(sorted(p for p in paths if p.lower().endswith(WEIGHTS)))


def digest_file(path: str, progress: Callable[[int, int], None] | None = None) -> str:
    """SHA-256 of a model file, in hex. `progress` gets (bytes done, bytes in all).

    Takes seconds per gigabyte: call it outside anything timed. Raises OSError.
    """
    total = Path(path).stat().st_size
    digest, done = hashlib.sha256(), 0
    with Path(path).open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            done += len(block)
            if progress:
                progress(done, total)
    return digest.hexdigest()
