"""Runs plans in tests, and keeps what an observer would have seen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from runs.engine.plan import CheckSpec, Deadlines, Plan, Target
from runs.engine.records import RunReport
from runs.engine.session import run_plan

Event = tuple[str, dict[str, Any]]


class Recorder:
    """An observer that remembers, and may react."""

    def __init__(self, react: Callable[[str, dict[str, Any]], None] | None = None) -> None:
        self.events: list[Event] = []
        self._react = react

    def emit(self, kind: str, payload: dict[str, Any]) -> None:
        self.events.append((kind, payload))
        if self._react:
            self._react(kind, payload)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [payload for name, payload in self.events if name == kind]


def plan(
    base_url: str,
    *keys: str | CheckSpec,
    model: str = "",
    runtime: str = "",
    api_key_env: str = "",
    layer: str = "direct",
    server_url: str = "",
    server_model: str = "",
) -> Plan:
    """A plan with short deadlines; runtime and model are found out when left open."""
    checks = tuple(k if isinstance(k, CheckSpec) else CheckSpec(k) for k in keys)
    deadlines = Deadlines(connect_s=2, prefill_s=60, idle_s=30, total_s=120, load_s=3)
    target = Target(
        base_url,
        model,
        runtime,
        layer=layer,
        api_key_env=api_key_env,
        server_url=server_url,
        server_model=server_model,
    )
    return Plan("test", 1, checks, target, deadlines)


async def run(
    base_url: str,
    *keys: str | CheckSpec,
    observer: Recorder | None = None,
    cancel: threading.Event | None = None,
    observe: bool = False,
    **target: str,
) -> RunReport:
    return await run_plan(
        plan(base_url, *keys, **target),
        observer or Recorder(),
        cancel or threading.Event(),
        sample_memory=observe,
    )
