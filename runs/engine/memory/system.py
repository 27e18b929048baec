"""Memory of the whole machine. What the OS does not tell is None."""

from __future__ import annotations

import psutil

from runs.engine.memory.macos import compressed_and_pressure


def system_memory() -> dict[str, int | None]:
    """Bytes: total, available, used, wired and compressed (macOS), and swap in use.

    On macOS also `pressure_level`: 1 normal, 2 warning, 4 critical. Never raises.
    """
    memory, swap = _ask(psutil.virtual_memory), _ask(psutil.swap_memory)
    return {
        "system_total_bytes": getattr(memory, "total", None),
        "system_available_bytes": getattr(memory, "available", None),
        "system_used_bytes": getattr(memory, "used", None),
        "system_wired_bytes": getattr(memory, "wired", None),
        "swap_used_bytes": getattr(swap, "used", None),
        **compressed_and_pressure(),
    }


def _ask(call: object) -> object | None:
    """psutil's structures have lagged behind new versions of macOS before."""
    try:
        return call() if callable(call) else None
    except (psutil.Error, OSError, RuntimeError, ValueError):
        return None
