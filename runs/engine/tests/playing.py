"""Plays a case against the instrument: the same reading and judging as in a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx

from runs.engine.exchange import perform
from runs.engine.guards import Guard, largest
from runs.engine.guards import Limits as MemoryLimits
from runs.engine.identity import findings as identity_findings
from runs.engine.identity import weigh
from runs.engine.judge import Contract, Expectation, decide, judge_request, judge_run, to_result
from runs.engine.outcomes import Finding, Outcome
from runs.engine.plan import Deadlines, Limits, Target
from runs.engine.reading import Reading
from runs.engine.records import Exchange, RequestResult, RequestSpec, Timeline
from runs.engine.runtimes.base import ARTIFACT, LISTED, Facts
from runs.engine.runtimes.gateways import answered_by_somebody_else
from runs.engine.summary import PASSED, in_order, worst
from runs.engine.tests.replay import Replay, replaying
from runs.engine.timeline import MIN_SPAN_MS, build_timeline, count_tokens
from runs.engine.transport import open_client

SCALE = 0.03
SHORTEST_DEADLINE_S = 0.6
GB = 10**9
POOLING = {"embeddings": "embeddings", "embed": "embeddings", "rerank": "rerank"}


@dataclass
class Played:
    """One exchange of a case, read and judged."""

    exchange: Exchange
    reading: Reading
    timeline: Timeline
    result: RequestResult


@dataclass
class Outcomes:
    """What came out of a case."""

    played: dict[int, Played] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    verdict: tuple[Outcome, str, str] = PASSED
    peak_bytes: int | None = None
    identity_status: str = ""


async def play(case: dict[str, Any]) -> Outcomes:
    """Every exchange in its order, then what only the whole tells."""
    outcomes = Outcomes()
    async with replaying(case, SCALE) as server:
        for position, step in enumerate(server.exchanges):
            await server.advance_to(position)
            played = await _exchange(case, server, step, outcomes)
            if played is not None:
                outcomes.played[position] = played
        _identity(case, outcomes)
    _memory(case, outcomes)
    results = [played.result for played in outcomes.played.values()]
    whole = [*outcomes.findings, *judge_run(results)]
    parts = [(r.outcome, r.failure_class, r.explanation) for r in results]
    outcomes.verdict = worst(in_order(parts, whole))
    return outcomes


async def _exchange(
    case: dict[str, Any], server: Replay, step: dict[str, Any], outcomes: Outcomes
) -> Played | None:
    request = step["request"]
    if request.get("method", "POST") == "GET":
        await _look(server, request["path"], outcomes)
        return None
    expect = expectation(case, request, step)
    spec = RequestSpec(
        method="POST",
        path=request["path"],
        body={k: v for k, v in request.items() if k not in ("method", "path")},
        stream=bool(request.get("stream")),
        check=expect.kind,
        label=case["id"],
        cache="any",
    )
    stop_after = step.get("client", {}).get("abort_after_chunk")
    async with open_client(base_url=server.url, connect_s=5, limits=Limits()) as client:
        exchange, reading = await perform(
            client,
            spec,
            deadlines=deadlines(case),
            limits=Limits(),
            stop_when=None if stop_after is None else lambda r: len(r.tokens) > stop_after,
        )
    return judged(case, exchange, reading, expect)


async def _look(server: Replay, path: str, outcomes: Outcomes) -> None:
    """What a check sees beside its requests: slots that stay busy after a cancel."""
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"{server.url}{path}")
    if path != "/slots":
        return
    busy = [slot["id"] for slot in answer.json() if slot.get("is_processing")]
    if busy and any(p.exchange.ending == "cancelled" for p in outcomes.played.values()):
        outcomes.findings.append(Finding("stale_slot", f"Slot {busy[0]} stays busy."))


def judged(
    case: dict[str, Any], exchange: Exchange, reading: Reading, expect: Expectation
) -> Played:
    tokens = count_tokens(reading)
    timeline = build_timeline(exchange, reading, tokens, min_span_ms=MIN_SPAN_MS * SCALE)
    findings = judge_request(exchange, reading, timeline, tokens, expect, contract(exchange.spec))
    if elsewhere := answered_by_somebody_else(dict(exchange.headers)):
        findings.append(Finding("identity_mismatch", elsewhere))
    result = to_result(0, exchange, reading, timeline, tokens, expect, findings)
    return Played(exchange, reading, timeline, result)


def contract(spec: RequestSpec) -> Contract:
    """Ollama's native paths promise NDJSON; everything else the OpenAI protocol."""
    native = spec.path.startswith("/api/")
    asked = bool((spec.body or {}).get("stream_options")) or not spec.stream
    return Contract(done=not native, usage=asked, framing="ndjson" if native else "sse")


def expectation(
    case: dict[str, Any], request: dict[str, Any], step: dict[str, Any]
) -> Expectation:
    """From the case's `probe` and the shorthand of the request."""
    probe = case["probe"]
    kind = POOLING.get(request["path"].rpartition("/")[2], "chat")
    tool = probe.get("expect_tool") or ""
    known = request.get("approx_prompt_tokens")
    schema = probe.get("expect_schema") or (
        {"type": "object"} if probe.get("expect_json") else None
    )
    arguments = probe.get("expect_args")
    names = isinstance(request.get("tool_choice"), dict)
    return Expectation(
        kind=kind,
        marker="" if tool or schema or known else str(probe.get("marker") or ""),
        schema=schema,
        tool=tool,
        tool_schema=arguments_schema(arguments),
        tool_choice_named=names,
        prompt_tokens=known,
        encoding=request.get("encoding_format", "float"),
        cancelled_by_check="client" in step,
    )


def arguments_schema(arguments: dict[str, Any] | None) -> dict[str, Any] | None:
    """A schema that takes exactly these arguments."""
    if arguments is None:
        return None
    properties = {name: {"const": value} for name, value in arguments.items()}
    return {"type": "object", "properties": properties, "required": list(arguments)}


def deadlines(case: dict[str, Any]) -> Deadlines:
    """The case's clocks on the scale of its delays."""
    probe = case["probe"]

    def scaled(name: str, otherwise_ms: int) -> float:
        return max(float(probe.get(name, otherwise_ms)) / 1000 * SCALE, SHORTEST_DEADLINE_S)

    return Deadlines(
        connect_s=5,
        prefill_s=scaled("prefill_deadline_ms", 120_000),
        idle_s=scaled("idle_deadline_ms", 20_000),
        total_s=scaled("total_deadline_ms", 180_000),
    )


def _identity(case: dict[str, Any], outcomes: Outcomes) -> None:
    """Where the case asks for it: the names and files that the server lists."""
    probe = case["probe"]
    canonical = probe.get("canonical", {})
    listing = next((a for a in case["wire"].get("aux", []) if a["path"] == "/v1/models"), None)
    if probe.get("identity") != "must_check" or listing is None:
        return
    wanted = canonical.get("requested", "")
    facts = Facts()
    for entry in listing["json"]["data"]:
        facts.models.append(entry["id"])
        if entry["id"] == wanted and entry.get("root"):
            facts.file, facts.level = entry["root"], ARTIFACT
    facts.level = max(facts.level, LISTED)
    target = Target("http://127.0.0.1", wanted, expected_file=canonical.get("artifact", ""))
    identity = weigh(facts, None, target)
    outcomes.identity_status = identity.status
    outcomes.findings += identity_findings(identity)


def _memory(case: dict[str, Any], outcomes: Outcomes) -> None:
    """Host samples through the guard, as the sampler would feed it."""
    samples = case["wire"].get("host_samples", [])
    limit = case["probe"].get("memory_guard_gb")
    if not samples or limit is None:
        return
    guard = Guard(MemoryLimits(limit * GB, 0, 10**15).resolved(None))
    seen = [payload(sample) for sample in samples]
    for sample in seen:
        if trip := guard.look(sample):
            outcomes.findings.append(trip.finding())
            break
    values = [value for _, value in map(largest, seen) if value is not None]
    outcomes.peak_bytes = max(values, default=None)
    if not values:
        outcomes.findings.append(Finding("telemetry_gap", "No sample of the process was had."))


def payload(sample: dict[str, Any]) -> dict[str, Any]:
    """A case's sample in the keys of `memory.sample`."""
    keys = {"rss_gb": "rss_bytes", "phys_footprint_gb": "footprint_bytes"}
    told = {keys[name]: round(value * GB) for name, value in sample.items() if name in keys}
    return {"t_ms": sample["t_ms"], "pid": sample.get("pid"), **told}


def decided(played: Played) -> tuple[Outcome, str, str]:
    return decide(played.result.findings)
