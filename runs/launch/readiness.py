"""Waiting for a launched server, by its adapter's health. Pure: no Django."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

from runs.engine.runtimes import adapter_for
from runs.engine.runtimes.address import root_of
from runs.engine.runtimes.base import READY, Health
from runs.engine.runtimes.peek import open_peek
from runs.engine.runtimes.processes import listener
from runs.launch.diagnosis import ended, explain
from runs.launch.process import Launched

LOOK_S = 0.25
Stop = Callable[[], bool]


class LaunchFailed(Exception):
    """The server did not get ready. `failure_class` is one of the design's."""

    def __init__(self, failure_class: str, explanation: str) -> None:
        super().__init__(explanation)
        self.failure_class = failure_class
        self.explanation = explanation


def wait_ready(
    launched: Launched, base_url: str, runtime: str, *, within_s: float, stop: Stop
) -> float:
    """Ask until it is ready; gives how long that took, in ms. Raises LaunchFailed."""
    started = time.monotonic()
    pause = threading.Event()
    while True:
        if stop():
            raise LaunchFailed("cancelled", "Stopped while the server was starting.")
        if launched.exit_code is not None:
            raise failure(launched)
        if asyncio.run(health(base_url, runtime)).state == READY:
            see_whose(launched, base_url)
            return (time.monotonic() - started) * 1000
        if time.monotonic() - started > within_s:
            raise failure(launched, f" ({within_s:.0f} s)")
        pause.wait(LOOK_S)


async def health(base_url: str, runtime: str) -> Health:
    async with open_peek(root_of(base_url), "", 3.0) as peek:
        return await adapter_for(runtime, base_url, peek).health()


def failure(launched: Launched, within: str = "") -> LaunchFailed:
    """What the log tail means, in words."""
    if launched.exit_code is not None:
        launched.tail.join(1.0)
    meaning = explain(launched.tail.lines(), launched.exit_code)
    return LaunchFailed("init_failed", f"{ended(launched.exit_code)}{within}. {meaning.sentence}")


def see_whose(launched: Launched, base_url: str) -> None:
    """Who answers at the port must be the server that we started."""
    port = int(base_url.rsplit(":", 1)[1].split("/")[0])
    pid = listener(port)
    if launched.exit_code is not None:
        raise failure(launched)
    if pid is not None and not launched.owns(pid):
        raise LaunchFailed(
            "init_failed",
            f"Another program (process {pid}) answers at port {port}: the port was taken. "
            "Launch again: another free port is chosen.",
        )
