"""Two clocks beside each other: the wall's, which somebody may set, and one that nobody sets."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.utils import timezone

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Counts on while the machine sleeps: Linux names it so, macOS does it with its monotonic clock.
BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
JUMP_S = 5.0  # less is drift that time synchronisation mends


@dataclass(frozen=True, slots=True)
class Reading:
    """One moment. `boot_s` can be compared only under the same `boot_id`."""

    wall: datetime
    boot_s: float
    boot_id: str


def read_clocks() -> Reading:
    boot_id = BOOT_ID.read_text().strip() if BOOT_ID.exists() else ""
    return Reading(timezone.now(), time.clock_gettime(BOOT_CLOCK), boot_id)


def jump_s(before: Reading, after: Reading) -> float | None:
    """By how much the wall clock was set between two readings; None where that cannot be told.

    Positive: set forward, so that wall time claims more than passed.
    """
    if before.boot_id != after.boot_id or after.boot_s < before.boot_s:
        return None  # another machine, or started anew
    by_s = (after.wall - before.wall).total_seconds() - (after.boot_s - before.boot_s)
    return by_s if abs(by_s) > JUMP_S else 0.0
