"""What the machine this process runs on says about itself."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import psutil

from catalog.models import Host, Origin

CPUINFO = Path("/proc/cpuinfo")


def ensure_local_host(key: str) -> Host:
    """The row of this machine, described anew; whoever renamed it keeps the name."""
    facts = {
        "chip": chip_name(),
        "os": f"{platform.system()} {platform.release()}"[:120],
        "memory_bytes": psutil.virtual_memory().total,
        "origin": Origin.SERVER,
    }
    host, _ = Host.objects.update_or_create(
        key=key, defaults=facts, create_defaults={**facts, "name": "This machine"}
    )
    return host


def chip_name() -> str:
    """The processor as the system names it, else its architecture."""
    if CPUINFO.exists():
        lines = CPUINFO.read_text(errors="replace").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    else:
        names = [_apple_chip()]
    return next((name for name in names if name), platform.machine())[:120]


def _apple_chip() -> str:
    try:
        answer = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except OSError:
        return ""
    return answer.stdout.strip()
