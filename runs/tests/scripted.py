"""An engine that plays a script instead of asking a server."""

from __future__ import annotations

from typing import Any

from runs.engine.observer import Cancel, Observer
from runs.engine.outcomes import Outcome
from runs.engine.plan import Plan
from runs.engine.records import CheckResult, RequestResult, RunReport, Timeline, Tokens


def request_result(index: int = 0, **fields: Any) -> RequestResult:
    timeline = Timeline(
        connect_ms=0.4,
        headers_ms=3.0,
        first_byte_ms=3.1,
        first_event_ms=3.2,
        first_content_ms=12.5,
        ttft_ms=12.5,
        last_token_ms=30.25,
        end_ms=31.0,
        token_chunks=3,
        token_offsets_ms=[12.5, 20.125, 30.25],
        decode_tps_reason="timing_artifact",
    )
    values: dict[str, Any] = {
        "index": index,
        "check": "stream",
        "label": f"request {index}",
        "streamed": True,
        "cache": "fresh",
        "client_concurrency": 1,
        "outcome": Outcome.CLEAN_PASS,
        "timeline": timeline,
        "tokens": Tokens(prompt=9, completion=3, origin="usage"),
        "answer": "Paris",
        "http_status": 200,
    }
    return RequestResult(**{**values, **fields})


def report(*requests: RequestResult, **fields: Any) -> RunReport:
    checks = [CheckResult("stream", "Plain chat, streamed", Outcome.CLEAN_PASS, requests=[0])]
    values: dict[str, Any] = {"outcome": Outcome.CLEAN_PASS, "checks": checks}
    return RunReport(requests=list(requests), **{**values, **fields})


def clean_engine(plan: Plan, observer: Observer, cancel: Cancel) -> RunReport:
    """One request that passes."""
    result = request_result()
    observer.emit("run.started", {"suite": plan.suite, "checks": 1, "requests": 1})
    observer.emit("request.queued", {"request": 0, "check": 0, "key": "stream", "label": "a"})
    observer.emit("request.phase", {"request": 0, "phase": "done"})
    observer.emit("request.finished", {"request": 0, "result": result.as_dict()})
    observer.emit("run.finished", {"outcome": "clean_pass"})
    return report(result)
