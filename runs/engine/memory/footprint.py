"""Physical footprint on macOS: what Activity Monitor calls memory. RSS misses Metal buffers.

`proc_pid_rusage` fills `rusage_info_v0` (96 bytes); `ri_phys_footprint` is the 64-bit value at
offset 72 (XNU, bsd/sys/resource.h). Clean mapped files, such as mmapped weights, are not in it.
"""

from __future__ import annotations

import ctypes
import sys

RUSAGE_INFO_V0 = 0
BUFFER_BYTES = 512  # more than any version writes: a short buffer would corrupt the heap
FOOTPRINT_OFFSET = 72


def footprint_bytes(pid: int) -> int | None:
    """Physical footprint of a process, or None where the OS does not tell. Never raises."""
    if sys.platform != "darwin":
        return None
    try:
        library = ctypes.CDLL("/usr/lib/libproc.dylib")
        buffer = ctypes.create_string_buffer(BUFFER_BYTES)
        if library.proc_pid_rusage(pid, RUSAGE_INFO_V0, buffer) != 0:
            return None
    except (OSError, AttributeError):
        return None
    return read_footprint(buffer.raw)


def read_footprint(usage: bytes) -> int | None:
    """The footprint inside a filled `rusage_info`; a process without memory is not believed."""
    value = int.from_bytes(usage[FOOTPRINT_OFFSET : FOOTPRINT_OFFSET + 8], sys.byteorder)
    return value or None
