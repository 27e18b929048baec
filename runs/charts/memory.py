"""The server's memory over a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryPicture:
    """`points` of a polyline in a 100 x 100 box; bytes are of the server's process tree."""

    points: str
    first_bytes: int
    peak_bytes: int
    last_bytes: int
    n: int


def memory_picture(series: list[tuple[float, int]]) -> MemoryPicture | None:
    """The server's resident memory over the run; the axis begins at zero."""
    if not series:
        return None
    values = [value for _, value in series]
    start, span = series[0][0], max(series[-1][0] - series[0][0], 1.0)
    top = max(values) * 1.1
    points = " ".join(
        f"{100 * (at - start) / span:.2f},{100 - 100 * value / top:.2f}" for at, value in series
    )
    return MemoryPicture(points, values[0], max(values), values[-1], len(values))
