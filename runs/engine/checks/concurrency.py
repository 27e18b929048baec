"""Several requests at one moment: each is judged, and the spread between them reported."""

from __future__ import annotations

from dataclasses import replace

from runs.engine.checks.base import Check, Found, Params, Request, Scene, chat, question, spread
from runs.engine.checks.sized import sized
from runs.engine.judge import Expectation
from runs.engine.outcomes import Finding, Outcome
from runs.engine.prompts import LongPrompt, Prompt
from runs.engine.records import RequestResult

DEFAULT_CLIENTS = 4
MOST_CLIENTS = 256


def clients_of(params: Params) -> int:
    return max(1, min(int(params.get("clients") or DEFAULT_CLIENTS), MOST_CLIENTS))


def requests_of(params: Params) -> int:
    return clients_of(params) * (2 if params.get("repeat") else 1)


async def run(scene: Scene, params: Params) -> Found:
    """With `repeat` the group sends the same bytes once more, and figures are of that alone."""
    group = await fresh_group(scene, params)
    sent, instrument = await scene.send_together(group)
    if params.get("repeat"):
        sent, instrument = await scene.send_together([again(request) for request in group])
    figures = {**instrument, **spreads([s.result for s in sent])}
    figures["runtime_parallel"] = scene.facts.parallel
    if rest_s := float(params.get("rest_s") or 0):
        await scene.wait(rest_s)  # what memory stays is told only when nothing is asked
    return Found(limited(instrument), figures)


async def fresh_group(scene: Scene, params: Params) -> list[Request]:
    """One request a client: short questions, or prompts of `tokens` tokens."""
    clients = clients_of(params)
    if not params.get("tokens"):
        asked: list[Prompt | LongPrompt] = [scene.prompts.counting() for _ in range(clients)]
    else:
        asked = [*await sized(scene, int(params["tokens"]), clients)]
    return [
        chat(
            scene,
            "concurrency",
            f"client {number} of {clients}",
            question(scene, Prompt(prompt.messages)),
            Expectation(prompt_tokens=getattr(prompt, "tokens", None)),
            clients=clients,
        )
        for number, prompt in enumerate(asked, start=1)
    ]


def again(request: Request) -> Request:
    spec = replace(request.spec, label=f"{request.spec.label}, exact repeat", cache="repeat")
    return replace(request, spec=spec)


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
    requests=requests_of,
)
