"""A process that listens, and does to its memory what a test tells it over standard input."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PROGRAM = """
import socket, subprocess, sys

CHILD = "import sys; held = b'x' * int(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen()
print(listener.getsockname()[1], flush=True)
held, children = [], []
for line in sys.stdin:
    order, size = line.split()
    if order == "hold":
        held.append(b"x" * int(size))
    else:
        command = [sys.executable, "-c", CHILD, size]
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        children.append(subprocess.Popen(command, **pipes))
        children[-1].stdout.readline()
    print("done", flush=True)
"""


class Listening:
    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}/v1"

    def hold(self, size_bytes: int) -> None:
        """Allocate, touch and keep that much."""
        self._order("hold", size_bytes)

    def spawn(self, size_bytes: int) -> None:
        """Start a child that holds that much."""
        self._order("spawn", size_bytes)

    def die(self) -> None:
        self.process.kill()
        self.process.wait()

    def _order(self, order: str, size_bytes: int) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(order, size_bytes, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "done\n"


@contextmanager
def listening(port: int = 0) -> Iterator[Listening]:
    """The process, for as long as the block lasts."""
    command = [sys.executable, "-c", PROGRAM, str(port)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield Listening(process, int(process.stdout.readline()))
        finally:
            process.kill()


def free_port() -> int:
    """A port on which nobody listens just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
