"""Memory of the whole machine. What the OS does not tell is None."""

from __future__ import annotations

import psutil


def system_memory() -> dict[str, int | None]:
    """Bytes: total, available, used, wired (macOS) and swap in use. Never raises."""
    memory, swap = _ask(psutil.virtual_memory), _ask(psutil.swap_memory)
    return {
        "system_total_bytes": getattr(memory, "total", None),
        "system_available_bytes": getattr(memory, "available", None),
        "system_used_bytes": getattr(memory, "used", None),
        "system_wired_bytes": getattr(memory, "wired", None),
        "swap_used_bytes": getattr(swap, "used", None),
    }


def _ask(call: object) -> object | None:
    """psutil's structures have lagged behind new versions of macOS before."""
    try:
        return call() if callable(call) else None
    except (psutil.Error, OSError, RuntimeError, ValueError):
        return None
