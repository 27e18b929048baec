"""Units that make axes readable: chosen by what is shown, and named on the axis."""

from __future__ import annotations

KIB, MIB, GIB = 1024, 1024**2, 1024**3
TIMES = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))


def bytes_unit(largest: float) -> tuple[int, str]:
    """(bytes of one unit, its name): GiB from half a GiB on, else MiB."""
    return (GIB, "GiB") if largest >= GIB / 2 else (MIB, "MiB")


def time_unit(span_ms: float) -> tuple[int, str]:
    """(ms of one unit, its name) for a time axis so long: at least two of the unit fit."""
    return next(((ms, name) for ms, name in TIMES if span_ms >= 2 * ms), (1000, "s"))


def said_bytes(value: float) -> str:
    """ "34.1 GiB", "512 MiB" and, where it is very small, "0.3 MiB"."""
    size, name = bytes_unit(abs(value))
    shown = value / size
    return f"{shown:,.0f} {name}" if abs(shown) >= 100 else f"{shown:,.3g} {name}"


def said_time(ms: float) -> str:
    """ "12 s", "3.5 min", "7 d"."""
    size, name = time_unit(ms)
    return f"{ms / size:.3g} {name}"
