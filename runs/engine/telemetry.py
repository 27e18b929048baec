"""What the server says of its own load while a run goes on, as `telemetry.sample` events.

Keys: slots, slots_busy, requests_waiting, kv_usage_ratio, server_memory_bytes and the cumulative
counters prompt_tokens_total, cached_tokens_total, completion_tokens_total, requests_total; each
only where the runtime tells it. `gap` says why a look got no answer.

It asks from a thread and a connection of its own, and rarely: a busy llama.cpp notices that a
client has gone only after a second in which it was asked nothing else, so looking more often
would keep alive what it counts.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from runs.engine.observer import Observer
from runs.engine.plan import Target
from runs.engine.runtimes import adapter_for
from runs.engine.runtimes.address import root_of
from runs.engine.runtimes.base import Load
from runs.engine.runtimes.peek import PeekError, open_peek

INTERVAL_S = 2.0
TIMEOUT_S = 2.0
LOOK_S = 0.1
COUNTERS = {
    "prompt_tokens": "prompt_tokens_total",
    "prompt_tokens_cached": "cached_tokens_total",
    "completion_tokens": "completion_tokens_total",
    "requests": "requests_total",
}


class TelemetrySampler:
    """Asks a server for its load until `stop`; does nothing for runtimes that tell none."""

    def __init__(self, target: Target, observer: Observer, interval_s: float = INTERVAL_S) -> None:
        self._target = target
        self._observer = observer
        self._interval_s = interval_s
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run()), name="telemetry", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(TIMEOUT_S + LOOK_S)

    async def _run(self) -> None:
        target = self._target
        root = root_of(target.base_url)
        async with open_peek(root, target.api_key_env, TIMEOUT_S) as peek:
            adapter = adapter_for(target.runtime, target.base_url, peek)
            if not (adapter.reports_load or adapter.reports_memory):
                return
            pause_s = max(self._interval_s, adapter.poll_pause_s)
            while not self._stopped.is_set():
                try:
                    payload = sample(await adapter.load())
                except PeekError as error:
                    payload = {"gap": str(error)}
                if not self._stopped.is_set():
                    self._observer.emit("telemetry.sample", payload)
                await self._pause(pause_s)

    async def _pause(self, seconds: float) -> None:
        for _ in range(max(1, round(seconds / LOOK_S))):
            if self._stopped.is_set():
                return
            await asyncio.sleep(LOOK_S)


def sample(load: Load) -> dict[str, Any]:
    """A load as a payload; what the runtime does not tell is left out."""
    told = {
        "slots": load.slots,
        "slots_busy": load.running,
        "requests_waiting": load.waiting,
        "kv_usage_ratio": load.kv_usage_ratio,
        "server_memory_bytes": load.memory_bytes,
        **{name: load.counters.get(key) for key, name in COUNTERS.items()},
    }
    return {"gap": "", **{key: value for key, value in told.items() if value is not None}}
