"""Several requests at one moment: each is judged, and the spread between them reported."""

from __future__ import annotations

from runs.engine.checks.base import Check, Found, Params, Scene, chat, question, spread
from runs.engine.judge import Expectation
from runs.engine.outcomes import Finding, Outcome
from runs.engine.records import RequestResult

DEFAULT_CLIENTS = 4
MOST_CLIENTS = 256


def clients_of(params: Params) -> int:
    return max(1, min(int(params.get("clients") or DEFAULT_CLIENTS), MOST_CLIENTS))


async def run(scene: Scene, params: Params) -> Found:
    clients = clients_of(params)
    requests = [
        chat(
            scene,
            "concurrency",
            f"client {number + 1} of {clients}",
            question(scene, scene.prompts.counting()),
            Expectation(),
            clients=clients,
        )
        for number in range(clients)
    ]
    sent, instrument = await scene.send_together(requests)
    figures = {**instrument, **spreads([s.result for s in sent])}
    figures["runtime_parallel"] = scene.facts.parallel
    return Found(limited(instrument), figures)


def limited(instrument: dict[str, object]) -> list[Finding]:
    """When it was us who did not keep up, nothing was learned about the server."""
    if not instrument["client_limited"]:
        return []
    return [
        Finding(
            "telemetry_gap",
            f"{instrument['clients_achieved']} of {instrument['clients_asked']} requests were "
            "really open at one moment: the group is client-limited and no evidence.",
        )
    ]


def spreads(results: list[RequestResult]) -> dict[str, object]:
    """Of completed requests alone: one that failed early would look quick. The group's rate is
    theirs too, over the time that the whole group took."""
    done = [r for r in results if r.outcome in (Outcome.CLEAN_PASS, Outcome.DEGRADED)]
    ends = [r.timeline.end_ms for r in results if r.timeline.end_ms is not None]
    tokens = [r.tokens.completion for r in done]
    total = sum(t for t in tokens if t is not None) if None not in tokens else None
    return {
        "completed": len(done),
        "ttft_ms": spread([r.timeline.ttft_ms for r in done]),
        "end_ms": spread([r.timeline.end_ms for r in done]),
        "decode_tps": spread([r.timeline.decode_tps for r in done]),
        "completion_tokens_total": total,
        "group_tps": round(total / max(ends) * 1000, 3) if total and ends else None,
    }


CONCURRENCY = Check(
    key="concurrency",
    title="Concurrency",
    description="Starts several streams at one moment and judges each; the spread is reported.",
    run=run,
    requests=clients_of,
)
