"""Why a run ends before its plan does."""

from __future__ import annotations

import asyncio

from runs.engine.clock import now_ns
from runs.engine.observer import Cancel

LOOK_S = 0.1


class RunStopped(Exception):
    """The rest of the plan is not carried out."""

    def __init__(self, failure_class: str, explanation: str) -> None:
        super().__init__(explanation)
        self.failure_class = failure_class
        self.explanation = explanation


def cancelled() -> RunStopped:
    return RunStopped("cancelled", "The run was cancelled. What was recorded until then is kept.")


class After:
    """Set when another signal is, or when so many seconds have passed."""

    def __init__(self, other: Cancel, seconds: float | None) -> None:
        self._other = other
        self._due_ns = None if seconds is None else now_ns() + int(seconds * 1e9)

    def is_set(self) -> bool:
        return self._other.is_set() or (self._due_ns is not None and now_ns() >= self._due_ns)


async def wait(seconds: float, cancel: Cancel) -> None:
    """Let the time pass; raises RunStopped as soon as somebody cancels."""
    until_ns = now_ns() + int(seconds * 1e9)
    while (left_s := (until_ns - now_ns()) / 1e9) > 0:
        if cancel.is_set():
            raise cancelled()
        await asyncio.sleep(min(left_s, LOOK_S))
