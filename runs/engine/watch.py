"""Watches the server's memory and load beside a run, and stops the run at a limit."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from runs.engine.clock import ms_between, now_ns
from runs.engine.company import ClientWatch, SwapWatch
from runs.engine.guards import Guard, ProcessWatch, Trip, largest, said
from runs.engine.memory import MemorySampler
from runs.engine.observer import Cancel
from runs.engine.outcomes import Finding
from runs.engine.plan import Plan
from runs.engine.reporting import Reporter
from runs.engine.runtimes.base import Adapter
from runs.engine.runtimes.peek import PeekError
from runs.engine.stopping import RunStopped
from runs.engine.telemetry import TelemetrySampler

MEMORY_INTERVAL_S = 0.5
RELEASE_S = 10.0  # how long a stopped server may take to free its slots


class Watch:
    """Passes samples on to the reporter, and is the run's cancel signal: a person's, or a guard's.

    Samples arrive from the samplers' threads; each is one dictionary that nobody changes.
    """

    def __init__(self, plan: Plan, reporter: Reporter, cancel: Cancel) -> None:
        self.guard = Guard(plan.guards)
        self.process = ProcessWatch()
        self.swap = SwapWatch()
        self.clients = ClientWatch()
        self.trip: Trip | None = None
        self._reporter = reporter
        self._cancel = cancel
        self._last: dict[str, Any] = {}
        self._first_bytes: int | None = None
        self._reason = "No sample was taken."
        self._after: dict[str, Any] = {}

    def is_set(self) -> bool:
        return self.trip is not None or self._cancel.is_set()

    def emit(self, kind: str, payload: dict[str, Any]) -> None:
        sample = {"t_ms": self._reporter.since_start(), **payload}
        self._reporter.emit(kind, sample)
        if kind == "memory.sample":
            self._look(sample)
        elif kind == "telemetry.sample":
            self.clients.look(sample)

    def _look(self, sample: dict[str, Any]) -> None:
        self._last, self._reason = sample, sample.get("gap") or ""
        self.process.look(sample)
        self.swap.look(sample)
        if self._first_bytes is None:
            self._first_bytes = largest(sample)[1]
        trip = self.guard.look(sample)
        if trip and self.trip is None:
            self.trip = trip
            self._reporter.emit("guard.tripped", {**trip.as_dict(), "t_ms": sample["t_ms"]})

    async def start(self, plan: Plan, stack: AsyncExitStack) -> None:
        """Sample until the stack closes; stopping waits for a thread, so not in the loop."""
        server = plan.target.itself()  # behind a proxy: its own memory and load, not the proxy's
        memory = MemorySampler(server.base_url, self, MEMORY_INTERVAL_S)
        for sampler in (memory, TelemetrySampler(server, self)):
            sampler.start()
            stack.push_async_callback(asyncio.to_thread, sampler.stop)

    def reason_of(self, stopped: RunStopped) -> RunStopped:
        """Why the run really stopped: open requests end the same way for a person and a guard."""
        if self.trip and stopped.failure_class == "cancelled":
            return RunStopped("memory_guard", self.trip.sentence)
        return stopped

    async def see_release(self, adapter: Adapter) -> list[Finding]:
        """After a trip: whether the slots come free, and what the process holds then."""
        if self.trip is None:
            return []
        started_ns, busy = now_ns(), None
        while (waited_s := ms_between(started_ns, now_ns()) / 1000) < RELEASE_S:
            busy = await running(adapter)
            if not busy and waited_s > 2 * MEMORY_INTERVAL_S:
                break
            await asyncio.sleep(adapter.poll_pause_s)
        _, held = largest(self._last)
        self._after = {"waited_s": round(waited_s, 1), "held_bytes": held, "requests_left": busy}
        self._reporter.note(self.release_sentence(), "warning")
        if busy:
            return [
                Finding(
                    "stale_slot",
                    f"{busy} requests were still running at the server "
                    f"{waited_s:.0f} s after they were cancelled.",
                )
            ]
        return []

    def release_sentence(self) -> str:
        held, waited_s = self._after.get("held_bytes"), self._after.get("waited_s")
        if held is None:
            return "After the stop, the process's memory could not be seen."
        return f"{waited_s:g} s after the stop the server's process held {said(held)}."

    def findings(self) -> list[Finding]:
        return [*self.process.findings(), *self.guard.findings(), *self.swap.findings()]

    def report(self) -> dict[str, Any]:
        """JSON-ready: what was seen of the server's memory, or why nothing was."""
        limits = self.guard.limits
        return {
            "figure": self.guard.figure,
            "first_bytes": self._first_bytes,
            "peak_bytes": self.guard.peak_bytes,
            "last_bytes": largest(self._last)[1],
            "not_observed": self._reason if self.guard.peak_bytes is None else "",
            "processes": [{"pid": pid, "started_s": at} for pid, at in self.process.seen],
            "process_limit_bytes": limits.process_bytes,
            "process_limit_origin": limits.origin,
            "available_floor_bytes": limits.available_floor_bytes,
            "growth_limit_bytes_per_s": limits.growth_bytes_per_s,
            "swap_grown_bytes": self.swap.grown_bytes,
            "system_total_bytes": self._last.get("system_total_bytes"),
            "trip": self.trip.as_dict() if self.trip else None,
            "after_trip": self._after or None,
        }


async def running(adapter: Adapter) -> int | None:
    """Requests at work, where the runtime tells; None where it does not."""
    try:
        return (await adapter.load()).running if adapter.reports_load else None
    except PeekError:
        return None
