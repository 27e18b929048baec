"""Plays a case against the instrument: the same reading and judging as in a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runs.engine.clock import ms_between, now_ns
from runs.engine.exchange import perform
from runs.engine.judge import (
    Contract,
    Expectation,
    decide_run,
    judge_request,
    judge_run,
    to_result,
)
from runs.engine.outcomes import Finding, Outcome
from runs.engine.plan import Limits
from runs.engine.reading import Reading
from runs.engine.records import Exchange, RequestResult, RequestSpec, Timeline
from runs.engine.runtimes.gateways import answered_by_somebody_else
from runs.engine.tests.replay import chunk_bytes, replaying
from runs.engine.tests.stretching import deadlines, scale_of, stretch
from runs.engine.tests.surroundings import (
    busy_slots,
    findings_of_identity,
    identity_of,
    memory_of,
)
from runs.engine.timeline import build_timeline, count_tokens
from runs.engine.transport import open_client

POOLING = {"embeddings": "embeddings", "embed": "embeddings", "rerank": "rerank"}
NATIVE = ("/api/chat", "/api/generate")


@dataclass
class Played:
    """One exchange of a case, read and judged."""

    exchange: Exchange
    reading: Reading
    timeline: Timeline
    result: RequestResult


@dataclass
class Outcomes:
    """What came out of a case. Times are the case's own, whatever the scale."""

    scale: float = 1.0
    played: dict[int, Played] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    verdict: tuple[Outcome, str, str] = (Outcome.CLEAN_PASS, "", "")
    peak_bytes: int | None = None
    identity_status: str = ""
    busy: int = 0  # slots still busy at the last look


async def play(case: dict[str, Any]) -> Outcomes:
    """Every exchange in its order, then what only the whole tells."""
    outcomes, started_ns = Outcomes(scale_of(case)), now_ns()
    async with replaying(case, outcomes.scale) as server:
        for position, step in enumerate(server.exchanges):
            await server.advance_to(position)
            if step["request"].get("method", "POST") == "GET":
                outcomes.busy = await busy_slots(server.url)
            else:
                made = await _exchange(case, server.url, step, outcomes.scale)
                outcomes.played[position] = judged(case, step, *made, started_ns)
    _conclude(case, outcomes)
    return outcomes


async def _exchange(
    case: dict[str, Any], url: str, step: dict[str, Any], scale: float
) -> tuple[Exchange, Reading]:
    request = step["request"]
    spec = RequestSpec(
        method="POST",
        path=request["path"],
        body={k: v for k, v in request.items() if k not in ("method", "path")},
        stream=bool(request.get("stream")),
        check=case["kind"],
        label=case["id"],
        cache="any",
    )
    leave_bytes = bytes_until_we_leave(step)
    async with open_client(base_url=url, connect_s=5, limits=Limits()) as client:
        exchange, reading = await perform(
            client,
            spec,
            deadlines=deadlines(case, scale),
            limits=Limits(),
            stop_when=lambda reading: 0 < leave_bytes <= reading.body_bytes,
        )
    origin_ns = exchange.started_ns
    stretch(exchange, origin_ns, scale)
    stretch(reading, origin_ns, scale)
    return exchange, reading


def bytes_until_we_leave(step: dict[str, Any]) -> int:
    """Body bytes after which the client itself hangs up; 0: it stays to the end."""
    after = step.get("client", {}).get("abort_after_chunk")
    chunks = [] if after is None else step["response"].get("chunks", [])[: after + 1]
    return sum(len(chunk_bytes(chunk)) for chunk in chunks)


def judged(
    case: dict[str, Any],
    step: dict[str, Any],
    exchange: Exchange,
    reading: Reading,
    started_ns: int = 0,
) -> Played:
    """As a run does it."""
    expect = expectation(case, step)
    tokens = count_tokens(reading)
    timeline = build_timeline(exchange, reading, tokens)
    findings = judge_request(exchange, reading, timeline, tokens, expect, contract(exchange.spec))
    if elsewhere := answered_by_somebody_else(dict(exchange.headers)):
        findings.append(Finding("identity_mismatch", elsewhere))
    offset_ms = ms_between(started_ns, exchange.started_ns)
    result = to_result(
        0, exchange, reading, timeline, tokens, expect, findings, started_offset_ms=offset_ms
    )
    return Played(exchange, reading, timeline, result)


def _conclude(case: dict[str, Any], outcomes: Outcomes) -> None:
    """The run's verdict: requests, what they tell together, and what stands beside them."""
    results = [played.result for played in outcomes.played.values()]
    headers = [dict(played.exchange.headers) for played in outcomes.played.values()]
    identity = identity_of(case, headers[-1] if headers else {})
    outcomes.identity_status = identity.status if identity else ""
    outcomes.peak_bytes, memory = memory_of(case)
    outcomes.findings = [*memory, *findings_of_identity(identity), *_stale(outcomes)]
    outcomes.verdict = decide_run(results, [*outcomes.findings, *judge_run(results)])


def _stale(outcomes: Outcomes) -> list[Finding]:
    """We hung up, and at the last look the server was still working for us."""
    cancelled = [p for p in outcomes.played.values() if p.exchange.ending == "cancelled"]
    if not (cancelled and outcomes.busy):
        return []
    text = f"{outcomes.busy} requests were still running after we hung up."
    return [Finding("stale_slot", text, at_ms=cancelled[0].result.started_offset_ms)]


def contract(spec: RequestSpec) -> Contract:
    """Ollama's native paths promise NDJSON; everything else the OpenAI protocol."""
    native = spec.path.startswith(NATIVE)
    asked = bool((spec.body or {}).get("stream_options")) or not spec.stream
    return Contract(done=not native, usage=asked, framing="ndjson" if native else "sse")


def expectation(case: dict[str, Any], step: dict[str, Any]) -> Expectation:
    """From the case's `probe` and the shorthand of the request."""
    probe, request = case["probe"], step["request"]
    kind = POOLING.get(request["path"].rpartition("/")[2], "chat")
    tool = probe.get("expect_tool") or ""
    known = request.get("approx_prompt_tokens")
    schema = probe.get("expect_schema") or ({} if probe.get("expect_json") else None)
    return Expectation(
        kind=kind,
        marker="" if tool or schema is not None else str(probe.get("marker") or ""),
        schema=schema,
        tool=tool,
        tool_schema=arguments_schema(probe.get("expect_args")),
        tool_choice_named=isinstance(request.get("tool_choice"), dict),
        prompt_tokens=known,
        count=_count(request),
        dimension=probe.get("expect_dim"),
        top_index=probe.get("expect_top_index"),
        encoding=request.get("encoding_format", "float"),
        cancelled_by_check="client" in step,
    )


def _count(request: dict[str, Any]) -> int | None:
    """How many vectors or scores are due."""
    given = request.get("documents", request.get("texts", request.get("input")))
    if isinstance(given, list):
        return int(request.get("top_n") or len(given))
    return 1 if isinstance(given, str) else None


def arguments_schema(arguments: dict[str, Any] | None) -> dict[str, Any] | None:
    """A schema that takes exactly these arguments."""
    if arguments is None:
        return None
    properties = {name: {"const": value} for name, value in arguments.items()}
    return {"type": "object", "properties": properties, "required": list(arguments)}
