"""Watches the server beside a run: memory against its limits, and whether it is still the same.

Samples come from other threads; what they lead to is a flag that the run looks at.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any

from runs.engine.guards import Guard, ProcessWatch, Trip
from runs.engine.memory import MemorySampler
from runs.engine.observer import Cancel
from runs.engine.outcomes import Finding
from runs.engine.plan import Plan
from runs.engine.reporting import Reporter
from runs.engine.telemetry import TelemetrySampler

MEMORY_INTERVAL_S = 1.0


class Watch:
    """Passes samples on to the reporter. Set, as a cancel, once a limit was crossed."""

    def __init__(self, plan: Plan, reporter: Reporter, cancel: Cancel) -> None:
        self._reporter = reporter
        self._cancel = cancel
        self._guard = Guard(plan.guards)
        self._process = ProcessWatch()
        self.trip: Trip | None = None

    def is_set(self) -> bool:
        return self.trip is not None or self._cancel.is_set()

    def emit(self, kind: str, payload: dict[str, Any]) -> None:
        self._reporter.emit(kind, payload)
        if kind != "memory.sample":
            return
        sample = {"t_ms": self._reporter.since_start(), **payload}
        self._process.look(sample)
        if self.trip is None and (trip := self._guard.look(sample)):
            self.trip = trip
            self._reporter.emit("guard.tripped", asdict(trip))

    def findings(self) -> list[Finding]:
        tripped = [self.trip.finding()] if self.trip else []
        return [*tripped, *self._process.findings()]

    async def start(self, plan: Plan, stack: AsyncExitStack) -> None:
        """Sample until the stack closes; stopping waits for a thread, so not in the loop."""
        target = plan.target
        for sampler in (
            MemorySampler(target.base_url, self, MEMORY_INTERVAL_S),
            TelemetrySampler(target, self),
        ):
            sampler.start()
            stack.push_async_callback(asyncio.to_thread, sampler.stop)
