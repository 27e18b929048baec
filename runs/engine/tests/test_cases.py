"""Every hard case is played over real sockets and must come out as its `expected` says."""

from __future__ import annotations

import asyncio
import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from runs.engine.judge.pooling import rerank_rows
from runs.engine.judge.text import answer_text
from runs.engine.tests.playing import Outcomes, Played, play
from runs.engine.tests.replay import load_cases

FOLDER = Path(__file__).parent / "cases"
AT_A_TIME = 8
# How far our own stamp may be off in real time: the server's timers, the socket, a busy machine.
LATE_MS = 120.0
EARLY_MS = 3.0
# Moments that `expected` gives as the index of a chunk.
MOMENTS = {
    "first_byte": "first_byte_ms",
    "first_event": "first_event_ms",
    "first_reasoning": "first_reasoning_ms",
    "first_content": "first_content_ms",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "hard_case" not in metafunc.fixturenames:
        return
    given = [Path(name) for name in metafunc.config.getoption("cases")]
    files = [*sorted(FOLDER.glob("*.jsonl")), *given]
    cases = [case for file in files for case in load_cases(file.read_text(encoding="utf-8"))]
    metafunc.parametrize("hard_case", cases, ids=[str(case["id"]) for case in cases])


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> dict[int, Outcomes | BaseException]:
    """What came out of each selected case; a few are played at a time, since most only wait."""
    specs = (getattr(item, "callspec", None) for item in request.session.items)
    cases = [spec.params["hard_case"] for spec in specs if spec and "hard_case" in spec.params]
    return dict(zip(map(id, cases), asyncio.run(play_all(cases)), strict=True))


async def play_all(cases: list[dict[str, Any]]) -> list[Outcomes | BaseException]:
    places = asyncio.Semaphore(AT_A_TIME)

    async def in_turn(case: dict[str, Any]) -> Outcomes:
        async with places:
            return await play(case)

    return await asyncio.gather(*map(in_turn, cases), return_exceptions=True)


def test_it_comes_out_as_expected(
    hard_case: dict[str, Any], played: dict[int, Outcomes | BaseException]
) -> None:
    outcomes = played[id(hard_case)]
    if isinstance(outcomes, BaseException):
        raise outcomes
    assert differences(hard_case, outcomes) == []


def differences(case: dict[str, Any], outcomes: Outcomes) -> list[str]:
    """Every way in which a case came out otherwise than expected, in words."""
    expected = case["expected"]
    outcome, failure_class, why = outcomes.verdict
    wrong = []
    if outcome != expected["outcome"]:
        wrong.append(f"outcome {outcome} ({failure_class}: {why}), not {expected['outcome']}")
    if failure_class != (expected.get("failure_class") or ""):
        wrong.append(f"class {failure_class} ({why}), not {expected.get('failure_class')}")
    wrong += [*_memory(outcomes, expected), *_identity(outcomes, expected)]
    last = max(outcomes.played, default=None)
    position = expected.get("judge_exchange", last)
    played = outcomes.played.get(position) if position is not None else None
    if played is None:
        return [*wrong, f"exchange {position} was not played"]
    response = case["wire"]["exchanges"][position]["response"]
    for part in (_texts, _tools, _usage, _pooling, _decode):
        wrong += part(played, expected)
    due = [*_by_time(expected), *_by_chunk(response, expected)]
    return [*wrong, *_moments(played, due, outcomes.scale), *_unstreamed(played, expected)]


def _differs(name: str, seen: object, wanted: object) -> list[str]:
    return [] if seen == wanted else [f"{name}: {seen!r}, not {wanted!r}"]


def _memory(outcomes: Outcomes, expected: dict[str, Any]) -> list[str]:
    if "peak_gb" not in expected:
        return []
    peak = outcomes.peak_bytes
    return _differs("peak_gb", None if peak is None else peak / 1e9, expected["peak_gb"])


def _identity(outcomes: Outcomes, expected: dict[str, Any]) -> list[str]:
    state = (expected.get("identity") or {}).get("state")
    return _differs("identity", outcomes.identity_status, state) if state else []


def _texts(played: Played, expected: dict[str, Any]) -> list[str]:
    reading, wrong = played.reading, []
    if "completion_text" in expected:
        wrong += _differs("completion_text", reading.content, expected["completion_text"])
    if "completion_text_prefix" in expected:
        prefix = expected["completion_text_prefix"]
        wrong += _differs("completion prefix", reading.content[: len(prefix)], prefix)
    if "reasoning_text" in expected:
        wrong += _differs("reasoning_text", reading.reasoning, expected["reasoning_text"])
    if "answer_text" in expected:
        wrong += _differs("answer_text", answer_text(reading.content), expected["answer_text"])
    if "finish_reason" in expected:
        wrong += _differs("finish_reason", reading.finish_reason, expected["finish_reason"])
    return wrong


def _tools(played: Played, expected: dict[str, Any]) -> list[str]:
    if "tool_calls" not in expected:
        return []
    calls = [
        {"name": call.name, "arguments": _decoded(call.arguments or "{}")}
        for call in played.reading.tool_calls
    ]
    return _differs("tool_calls", calls, expected["tool_calls"])


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _usage(played: Played, expected: dict[str, Any]) -> list[str]:
    tokens, wrong = played.result.tokens, []
    usage = expected.get("usage") or {}
    for name, seen in (("prompt_tokens", tokens.prompt), ("completion_tokens", tokens.completion)):
        if name in usage:
            wrong += _differs(name, seen, usage[name])
    details = usage.get("completion_tokens_details") or {}
    if "reasoning_tokens" in details:
        wrong += _differs("reasoning_tokens", tokens.reasoning, details["reasoning_tokens"])
    cache = expected.get("cache") or {}
    if "cached_tokens" in cache:
        wrong += _differs("cached_tokens", tokens.cached, cache["cached_tokens"])
    if "prefill_tok_s" in cache:
        server = played.reading.server
        rate = round(server["prompt_n"] / server["prompt_ms"] * 1000, 1)
        wrong += _differs("prefill_tok_s", rate, cache["prefill_tok_s"])
    return wrong


def _pooling(played: Played, expected: dict[str, Any]) -> list[str]:
    body, wrong = played.reading.json_body, []
    if "order" in expected:
        order = [index for index, _ in sorted(rerank_rows(body), key=lambda row: -row[1])]
        wrong += _differs("order", order, expected["order"])
    if "dims" in expected:
        wrong += _differs("dims", len(body["data"][0]["embedding"]), expected["dims"])
    return wrong


Due = tuple[str, list[float] | None]  # a figure, and when it may be; None: it must be missing


def _by_time(expected: dict[str, Any]) -> list[Due]:
    times = (expected.get("times_ms") or {}).items()
    return [(f"{name}_ms", None if ms is None else [ms]) for name, ms in times]


def _by_chunk(response: dict[str, Any], expected: dict[str, Any]) -> list[Due]:
    """What `expected` says by the index of a chunk, as the sum of the delays until it."""
    delays = [chunk.get("delay_ms", 0) for chunk in response.get("chunks", [])]
    arrivals = [response.get("headers_delay_ms", 0) + ms for ms in accumulate(delays)]
    due: list[Due] = [
        (figure, [arrivals[expected[name]]])
        for name, figure in MOMENTS.items()
        if isinstance(expected.get(name), int)
    ]
    if isinstance(expected.get("ttft_from"), int):
        allowed = expected.get("ttft_any_of") or [expected["ttft_from"]]
        due.append(("ttft_ms", [arrivals[index] for index in allowed]))
    return due


def _moments(played: Played, due: list[Due], scale: float) -> list[str]:
    """Each on the case's own clock."""
    wrong = []
    for name, allowed in due:
        seen = getattr(played.timeline, name)
        if allowed is None or seen is None:
            wrong += _differs(name, seen, allowed)
        elif not any(_is_near(seen, ms, scale) for ms in allowed):
            wrong.append(f"{name}: {seen:.1f}, not {allowed}")
    return wrong


def _is_near(seen_ms: float, due_ms: float, scale: float) -> bool:
    return due_ms - EARLY_MS / scale <= seen_ms <= due_ms + LATE_MS / scale


def _unstreamed(played: Played, expected: dict[str, Any]) -> list[str]:
    """A null is missing, never 0."""
    if expected.get("ttft_from", 0) is not None:
        return []
    return _differs("ttft_ms", played.timeline.ttft_ms, None)


def _decode(played: Played, expected: dict[str, Any]) -> list[str]:
    decode, rate = expected.get("decode"), played.timeline.decode_tps
    if not decode:
        return []
    if (rate is not None) != decode["measurable"]:
        return [f"decode_tps: {rate}, measurable: {decode['measurable']}"]
    if rate is not None and "tok_s_range" in decode:
        low, high = decode["tok_s_range"]
        if not low * 0.8 <= rate <= high * 1.05:
            return [f"decode_tps: {rate:.1f}, not within {low} to {high}"]
    return []
