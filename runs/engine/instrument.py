"""Our own error: how late the event loop ran, how late we sent, how many streams were open."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable
from typing import Any

from runs.engine.records import Exchange

BEAT_S = 0.02
LAG_LIMIT_MS = 500.0  # a loop this late has stamped something late
ACHIEVED_LIMIT = 0.95


class LoopLag:
    """Sleeps in short beats and remembers how late each one was."""

    def __init__(self) -> None:
        self.max_ms = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> LoopLag:
        self._task = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _beat(self) -> None:
        while True:
            due = time.monotonic() + BEAT_S
            await asyncio.sleep(BEAT_S)
            self.max_ms = max(self.max_ms, (time.monotonic() - due) * 1000)


def most_open(exchanges: Iterable[Exchange]) -> int:
    """The most requests that were open at one moment, from sent to ended."""
    edges = []
    for exchange in exchanges:
        if exchange.sent_ns:
            edges += [(exchange.sent_ns, 1), (exchange.ended_ns, -1)]
    most = now_open = 0
    for _, step in sorted(edges):
        now_open += step
        most = max(most, now_open)
    return most


def together(exchanges: list[Exchange]) -> dict[str, Any]:
    """How well a group of requests really ran together."""
    sent = [e.sent_ns for e in exchanges if e.sent_ns]
    asked, achieved = len(exchanges), most_open(exchanges)
    return {
        "clients_asked": asked,
        "clients_achieved": achieved,
        "send_spread_ms": round((max(sent) - min(sent)) / 1e6, 3) if sent else None,
        "client_limited": achieved < ACHIEVED_LIMIT * asked,
    }
