"""What only macOS tells of its memory: the compressor's share, and the pressure it feels.

The compressor's pages come from `vm_stat`, the pressure from the sysctl
`kern.memorystatus_vm_pressure_level` (1 normal, 2 warning, 4 critical).
"""

from __future__ import annotations

import re
import subprocess
import sys

COMMAND_S = 1.0
PRESSURE = ("sysctl", "-n", "kern.memorystatus_vm_pressure_level")
PAGE_SIZE = re.compile(r"page size of (\d+) bytes")
COMPRESSOR = re.compile(r"Pages occupied by compressor:\s+(\d+)")


def compressed_and_pressure() -> dict[str, int | None]:
    """Nothing at all on other systems. Never raises."""
    if sys.platform != "darwin":
        return {}
    return {
        "system_compressed_bytes": read_compressed(_said("vm_stat")),
        "pressure_level": read_pressure(_said(*PRESSURE)),
    }


def read_compressed(said: str) -> int | None:
    """Bytes out of `vm_stat`."""
    page, pages = PAGE_SIZE.search(said), COMPRESSOR.search(said)
    return int(page[1]) * int(pages[1]) if page and pages else None


def read_pressure(said: str) -> int | None:
    return int(said) if said.strip().isdigit() else None


def _said(*command: str) -> str:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_S)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout
