"""The last lines that a process said: bounded, redacted, and read without ever waiting on it."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable

from runs.engine.redact import HIDDEN, redact

LINES = 200
LINE_BYTES = 500
BLOCK_BYTES = 65_536


class LogTail:
    """Keeps the newest lines of a pipe; whatever is longer or older is dropped.

    `secrets` are values of the environment that must not be shown, however they got printed.
    """

    def __init__(self, pipe: int, *, secrets: Iterable[str] = ()) -> None:
        self._lines: deque[bytes] = deque(maxlen=LINES)
        self._open = b""  # the line that has not ended yet
        self._secrets = [secret for secret in secrets if len(secret) >= 6]
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def lines(self) -> list[str]:
        with self._lock:
            kept = [*self._lines, self._open] if self._open else list(self._lines)
        return [self._clean(line.decode("utf-8", "replace")) for line in kept]

    def join(self, timeout_s: float) -> None:
        """Wait for the pipe's end, so that the last words are there."""
        self._thread.join(timeout_s)

    def _read(self, pipe: int) -> None:
        with os.fdopen(pipe, "rb", buffering=0) as stream:
            while block := stream.read(BLOCK_BYTES):
                self._take(block)

    def _take(self, block: bytes) -> None:
        with self._lock:
            *ended, rest = (self._open + block).split(b"\n")
            self._lines.extend(line[:LINE_BYTES].rstrip() for line in ended)
            self._open = rest[:LINE_BYTES]

    def _clean(self, line: str) -> str:
        for secret in self._secrets:
            line = line.replace(secret, HIDDEN)
        return redact(line)
