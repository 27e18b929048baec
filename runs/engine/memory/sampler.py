"""Samples the server's memory in a thread of its own and emits `memory.sample` events.

Beside the keys of `observer.py` a sample carries: `at_ns` (the engine's clock), `pid` and
`process_started_s` of the main process, `pss_bytes`, `footprint_bytes`, `figure` (the key that
tells best here), `system_total_bytes`, `system_wired_bytes`, and `gap`: why the figures of the
process are missing, empty when they are not.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from runs.engine.clock import ms_between, now_ns
from runs.engine.memory.bounded import Bounded, Hung
from runs.engine.memory.looker import Looker
from runs.engine.memory.process import NotMeasurable, ServerProcess
from runs.engine.memory.system import system_memory
from runs.engine.observer import Observer

FIGURE = "footprint_bytes" if sys.platform == "darwin" else "rss_bytes"
DEADLINE_S = 2.0
SLOWER, SLOWEST_S = 1 / 1200, 5.0
FIGURES = ("rss_bytes", "uss_bytes", "pss_bytes", "footprint_bytes", "processes")


class MemorySampler:
    """One sample at once, then one every `interval_s` (rarer as hours pass), until `stop`.

    `process` is the server's main process once it was found; without one, `reason` says why.
    The machine's own memory is sampled either way.
    """

    def __init__(self, base_url: str, observer: Observer, interval_s: float = 0.5) -> None:
        self.process: ServerProcess | None = None
        self.reason = ""
        self._observer = observer
        self._interval_s = interval_s
        self._look = Bounded(Looker(base_url).look, DEADLINE_S)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory-sampler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No sample is emitted afterwards, unless the system hangs in one for seconds."""
        self._stopped.set()
        self._thread.join(DEADLINE_S)

    def _run(self) -> None:
        started_ns = now_ns()
        while not self._stopped.is_set():
            self._sample()
            age_s = ms_between(started_ns, now_ns()) / 1000
            self._stopped.wait(pause_s(self._interval_s, age_s))

    def _sample(self) -> None:
        payload: dict[str, Any] = dict.fromkeys(FIGURES)
        payload |= {"at_ns": now_ns(), "figure": FIGURE, "gap": ""}
        try:
            self.process, memory = self._look()
            payload |= {key: getattr(memory, key) for key in FIGURES}
            self.reason = ""
        except NotMeasurable as reason:
            self.process = None
            payload["gap"] = self.reason = str(reason)
        except Hung:
            payload["gap"] = self.reason = (
                f"The system took more than {DEADLINE_S:g} s to read the process's memory."
            )
        process = self.process
        payload["pid"] = process.pid if process else None
        payload["process_started_s"] = process.started_s if process else None
        self._observer.emit("memory.sample", payload | system_memory())


def pause_s(interval_s: float, age_s: float) -> float:
    """Fast in a probe, slow in a soak: half a second grows to three after an hour."""
    return max(interval_s, min(age_s * SLOWER, SLOWEST_S))
