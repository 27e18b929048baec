"""Memory limits of a run: pure, fed with `memory.sample` payloads, and what else these tell.

A guard takes the largest of the figures that count a process's own memory, since each of them
misses something (ml-explore/mlx#3896: RSS 4 GB while the physical footprint was 110 GB). A value
that is missing is neither 0 nor within a limit: it is not looked at.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from runs.engine.outcomes import Finding

Sample = Mapping[str, Any]

FIGURES = {"footprint_bytes": "physical footprint", "rss_bytes": "RSS"}
DEFAULT_PROCESS_SHARE = 0.7  # of the machine's memory
DEFAULT_FLOOR_SHARE = 0.05
LIMIT_PER_GROWTH_S = 60  # growing so fast would eat the whole limit in a minute
GROWTH_WINDOW_S = 10.0
GAP_SHARE = 0.2  # of the looks may fail before memory counts as not seen
GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes, and bytes a second. None takes the default share of the machine's memory.

    `origin` says in words where the process limit comes from.
    """

    process_bytes: int | None = None
    available_floor_bytes: int | None = None
    growth_bytes_per_s: int | None = None
    origin: str = ""

    def resolved(self, total_bytes: int | None) -> Limits:
        """Every limit as a number, as far as the machine's memory is known."""
        process, floor, origin = self.process_bytes, self.available_floor_bytes, self.origin
        if total_bytes and process is None:
            process = round(total_bytes * DEFAULT_PROCESS_SHARE)
            origin = f"{DEFAULT_PROCESS_SHARE:.0%} of the machine's {said(total_bytes)}"
        if total_bytes and floor is None:
            floor = round(total_bytes * DEFAULT_FLOOR_SHARE)
        growth = self.growth_bytes_per_s
        if growth is None and process:
            growth = process // LIMIT_PER_GROWTH_S
        return Limits(process, floor, growth, origin)


@dataclass(frozen=True, slots=True)
class Trip:
    """The limit that was crossed, by which sample. `seen` and `allowed` are bytes (a second)."""

    limit: str  # process | available | growth
    seen: int
    allowed: int
    sentence: str
    sample: dict[str, Any] = field(default_factory=dict)

    def finding(self) -> Finding:
        return Finding("memory_guard", self.sentence)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


class Guard:
    """Looks at one sample after the other; the first that crosses a limit trips it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.figure = ""  # the name of the peak's
        self.peak_bytes: int | None = None  # the largest, not the last: pages come and go
        self._read = 0  # samples of a known process with a figure
        self._unread = 0  # and without one
        self._recent: deque[tuple[float, int]] = deque()

    def look(self, sample: Sample) -> Trip | None:
        limits = self.limits = self.limits.resolved(sample.get("system_total_bytes"))
        figure, value = largest(sample)
        self._remember(sample, figure, value)
        for trip in (
            over_process(limits, figure, value),
            under_floor(limits, sample.get("system_available_bytes")),
            self._growing(limits, sample, figure, value),
        ):
            if trip:
                return Trip(trip.limit, trip.seen, trip.allowed, trip.sentence, dict(sample))
        return None

    def _remember(self, sample: Sample, figure: str, value: int | None) -> None:
        if value is None:
            self._unread += sample.get("pid") is not None
            return
        self._read += 1
        if self.peak_bytes is None or value > self.peak_bytes:
            self.figure, self.peak_bytes = figure, value

    def findings(self) -> list[Finding]:
        """A process that is there but cannot be read is not within its limits: nobody knows."""
        looks = self._read + self._unread
        if self._unread <= GAP_SHARE * looks:
            return []
        return [
            Finding(
                "telemetry_gap",
                f"The system did not tell the memory of the server's process in {self._unread} of "
                f"{looks} looks: whether it stayed within its limits is not known.",
            )
        ]

    def _growing(
        self, limits: Limits, sample: Sample, figure: str, value: int | None
    ) -> Trip | None:
        """Below half of the process limit, growth is a model being loaded or mapped."""
        allowed, t_ms = limits.growth_bytes_per_s, sample.get("t_ms")
        if allowed is None or value is None or t_ms is None:
            return None
        rate = self._rate(t_ms / 1000, value)
        if rate is None or rate <= allowed or value <= (limits.process_bytes or 0) / 2:
            return None
        return Trip(
            "growth",
            rate,
            allowed,
            f"The server's {FIGURES[figure]} grew by {said(rate)} a second over "
            f"{GROWTH_WINDOW_S:.0f} s, to {said(value)}; the limit is {said(allowed)} a second.",
        )

    def _rate(self, now_s: float, value: int) -> int | None:
        """Bytes a second since the oldest sample of the window, once that spans most of it."""
        self._recent.append((now_s, value))
        while self._recent[0][0] < now_s - GROWTH_WINDOW_S:
            self._recent.popleft()
        start_s, start = self._recent[0]
        span_s = now_s - start_s
        return round((value - start) / span_s) if span_s >= 0.8 * GROWTH_WINDOW_S else None


def largest(sample: Sample) -> tuple[str, int | None]:
    """The figure of the process that says most, and its name; None when it was not seen."""
    known = [(sample[f], f) for f in FIGURES if sample.get(f) is not None]
    value, figure = max(known, default=(None, "rss_bytes"))
    return figure, value


def over_process(limits: Limits, figure: str, value: int | None) -> Trip | None:
    allowed = limits.process_bytes
    if allowed is None or value is None or value <= allowed:
        return None
    where = f" ({limits.origin})" if limits.origin else ""
    return Trip(
        "process",
        value,
        allowed,
        f"The server's {FIGURES[figure]} reached {said(value)}; the guard allows "
        f"{said(allowed)}{where}.",
    )


def under_floor(limits: Limits, available: int | None) -> Trip | None:
    floor = limits.available_floor_bytes
    if floor is None or available is None or available >= floor:
        return None
    return Trip(
        "available",
        available,
        floor,
        f"The machine had {said(available)} of memory available; the guard keeps at least "
        f"{said(floor)} free.",
    )


class ProcessWatch:
    """Notices that the server's process was replaced or ended, whatever the next answer says."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, float]] = []  # pid and start (epoch seconds), in order
        self.is_gone = False

    def look(self, sample: Sample) -> None:
        pid, started_s = sample.get("pid"), sample.get("process_started_s")
        if pid is None or started_s is None:
            self.is_gone = bool(self.seen)
            return
        self.is_gone = False
        if not self.seen or self.seen[-1] != (pid, started_s):
            self.seen.append((pid, started_s))

    def findings(self) -> list[Finding]:
        if len(self.seen) > 1:
            pids = ", then ".join(str(pid) for pid, _ in self.seen)
            return [
                Finding(
                    "process_restarted",
                    f"The server process was replaced during the run: pid {pids}. What its cache "
                    "held is gone, and figures from before and after do not belong together.",
                )
            ]
        if self.is_gone:
            pid = self.seen[-1][0]
            return [Finding("process_crash", f"The server process {pid} ended during the run.")]
        return []


def said(value: float) -> str:
    """Bytes for people: "34.1 GiB", "512 MiB"."""
    size, unit = (GIB, "GiB") if abs(value) >= GIB / 2 else (1024**2, "MiB")
    return f"{value / size:,.3g} {unit}"
