"""The one clock of the engine: monotonic ns, comparable between processes of a machine."""

from __future__ import annotations

import time

now_ns = time.monotonic_ns


def ms_between(start_ns: int, end_ns: int) -> float:
    """Milliseconds from one moment to a later one."""
    return (end_ns - start_ns) / 1_000_000
