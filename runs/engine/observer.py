"""How a run tells what it is doing, without waiting for anybody.

`emit` only appends to memory: storing and showing happen in other threads.

Event kinds and their payload keys (every event also gets `t_ms`, since the run started):

    run.started       suite, checks, requests (how many are planned)
    check.started     check (position), key, title
    request.queued    request, check (position), key, label, streamed, cache, client_concurrency
    request.phase     request, phase: connecting | prefill | decode | done
    request.progress  request, chunks, chars, ttft_ms, text (bounded tail); at most 5 a second
    request.finished  request, result (RequestResult.as_dict())
    check.finished    check (position), result (CheckResult)
    memory.sample     rss_bytes, uss_bytes, processes, system_available_bytes, system_used_bytes,
                      swap_used_bytes
    telemetry.sample  slots, slots_busy, requests_waiting, ... (see telemetry.py)
    guard.tripped     limit (process | available | growth), seen, allowed, sentence, sample
    note              level (info | warning | error), text
    run.finished      outcome, failure_class, explanation
"""

from __future__ import annotations

from typing import Any, Protocol


class Observer(Protocol):
    """Receives events; must return at once and never raise."""

    def emit(self, kind: str, payload: dict[str, Any]) -> None: ...


class Cancel(Protocol):
    """Asked between chunks; true once somebody wants the run to stop."""

    def is_set(self) -> bool: ...
