"""Tells the observer what happens, each event with its place in the run's time."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from runs.engine.clock import ms_between, now_ns
from runs.engine.observer import Observer
from runs.engine.records import CheckResult, RequestResult, RequestSpec


class Reporter:
    """One run's events. The clock starts with it."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.started_ns = now_ns()

    def emit(self, kind: str, payload: dict[str, Any]) -> None:
        """Also what makes this an observer itself, for the memory sampler."""
        self.observer.emit(kind, {"t_ms": self.since_start(), **payload})

    def since_start(self, at_ns: int | None = None) -> float:
        return round(ms_between(self.started_ns, at_ns or now_ns()), 3)

    def note(self, text: str, level: str = "info") -> None:
        self.emit("note", {"level": level, "text": text})

    def request_queued(self, index: int, position: int, spec: RequestSpec) -> None:
        self.emit(
            "request.queued",
            {
                "request": index,
                "check": position,
                "key": spec.check,
                "label": spec.label,
                "streamed": spec.stream,
                "cache": spec.cache,
                "client_concurrency": spec.client_concurrency,
            },
        )

    def request_finished(self, index: int, result: RequestResult) -> None:
        self.emit("request.phase", {"request": index, "phase": "done"})
        self.emit("request.finished", {"request": index, "result": result.as_dict()})

    def check_finished(self, position: int, result: CheckResult) -> None:
        self.emit("check.finished", {"check": position, "result": asdict(result)})
