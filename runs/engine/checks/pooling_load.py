"""Embeddings and rerank under load: requests per second and errors against admission."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runs.engine.checks.base import Found, Params, Request, Scene, spread
from runs.engine.checks.concurrency import clients_of, limited
from runs.engine.outcomes import Outcome
from runs.engine.records import RequestResult

DEFAULT_ROUNDS = 4
MOST_ROUNDS = 100

Make = Callable[[Scene, str, int], Request]


def rounds_of(params: Params) -> int:
    return max(1, min(int(params.get("rounds") or DEFAULT_ROUNDS), MOST_ROUNDS))


def requests_of(params: Params, *, alone: int) -> int:
    """`alone`: what the check sends when it is not about load."""
    return clients_of(params) * rounds_of(params) if params.get("clients") else alone


async def load(scene: Scene, params: Params, make: Make) -> Found:
    """Group after group of as many requests as there are clients; each waits for the one before.

    The rate is that of completed requests, over the time in which groups were open.
    """
    clients, rounds = clients_of(params), rounds_of(params)
    instruments: list[dict[str, Any]] = []
    results: list[RequestResult] = []
    open_ms = 0.0
    for number in range(1, rounds + 1):
        group = [
            make(scene, f"round {number}, {c + 1} of {clients}", clients) for c in range(clients)
        ]
        sent, instrument = await scene.send_together(group)
        results += [one.result for one in sent]
        instruments.append(instrument)
        open_ms += span_ms([one.result for one in sent])
    worst = min(instruments, key=lambda instrument: instrument["clients_achieved"])
    return Found(limited(worst), {**worst, **rates(results, open_ms), "rounds": rounds})


def rates(results: list[RequestResult], open_ms: float) -> dict[str, Any]:
    done = [r for r in results if r.outcome in (Outcome.CLEAN_PASS, Outcome.DEGRADED)]
    return {
        "asked": len(results),
        "completed": len(done),
        "end_ms": spread([r.timeline.end_ms for r in done]),
        "requests_per_s": round(len(done) / open_ms * 1000, 3) if done and open_ms else None,
    }


def span_ms(group: list[RequestResult]) -> float:
    """From the first that was sent to the last that ended."""
    ends = [
        r.started_offset_ms + r.timeline.end_ms for r in group if r.timeline.end_ms is not None
    ]
    return max(ends) - min(r.started_offset_ms for r in group) if ends else 0.0
