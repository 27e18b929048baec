"""Every hard case is played over real sockets and must come out as its `expected` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runs.engine.judge.pooling import rerank_rows
from runs.engine.judge.text import answer_text
from runs.engine.tests.playing import Outcomes, Played, play
from runs.engine.tests.replay import load_cases

FOLDER = Path(__file__).parent / "cases"
# How far our own stamp may be off in real time: the server's timers, the socket, a busy machine.
LATE_MS = 120.0
EARLY_MS = 3.0


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    given = [Path(name) for name in metafunc.config.getoption("cases")]
    files = [*sorted(FOLDER.glob("*.jsonl")), *given]
    cases = [case for file in files for case in load_cases(file.read_text(encoding="utf-8"))]
    metafunc.parametrize("case", cases, ids=[str(case["id"]) for case in cases])


async def test_it_comes_out_as_expected(case: dict[str, Any]) -> None:
    outcomes = await play(case)
    expected = case["expected"]
    assert differences(outcomes, expected) == []


def differences(outcomes: Outcomes, expected: dict[str, Any]) -> list[str]:
    """Every way in which a case came out otherwise than expected, in words."""
    outcome, failure_class, why = outcomes.verdict
    wrong = []
    if outcome != expected["outcome"]:
        wrong.append(f"outcome {outcome} ({failure_class}: {why}), not {expected['outcome']}")
    if failure_class != (expected.get("failure_class") or ""):
        wrong.append(f"class {failure_class} ({why}), not {expected.get('failure_class')}")
    wrong += _memory(outcomes, expected)
    last = max(outcomes.played, default=None)
    position = expected.get("judge_exchange", last)
    played = outcomes.played.get(position) if position is not None else None
    if played is None:
        return [*wrong, f"exchange {position} was not played"]
    for part in (_texts, _tools, _usage, _pooling, _decode):
        wrong += part(played, expected)
    return [*wrong, *_times(played, expected, outcomes.scale)]


def _differs(name: str, seen: object, wanted: object) -> list[str]:
    return [] if seen == wanted else [f"{name}: {seen!r}, not {wanted!r}"]


def _memory(outcomes: Outcomes, expected: dict[str, Any]) -> list[str]:
    if "peak_gb" not in expected:
        return []
    peak = outcomes.peak_bytes
    return _differs("peak_gb", None if peak is None else peak / 1e9, expected["peak_gb"])


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
        {"name": call.name, "arguments": json.loads(call.arguments or "{}")}
        for call in played.reading.tool_calls
    ]
    return _differs("tool_calls", calls, expected["tool_calls"])


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
    return wrong


def _pooling(played: Played, expected: dict[str, Any]) -> list[str]:
    body, wrong = played.reading.json_body, []
    if "order" in expected:
        order = [index for index, _ in sorted(rerank_rows(body), key=lambda row: -row[1])]
        wrong += _differs("order", order, expected["order"])
    if "dims" in expected:
        wrong += _differs("dims", len(body["data"][0]["embedding"]), expected["dims"])
    return wrong


def _times(played: Played, expected: dict[str, Any], scale: float) -> list[str]:
    """Each moment on the case's clock; a null must be missing, never 0."""
    timeline, wrong = played.timeline, []
    for name, wanted in (expected.get("times_ms") or {}).items():
        seen = getattr(timeline, f"{name}_ms")
        if wanted is None or seen is None:
            wrong += _differs(f"{name}_ms", seen, wanted)
        elif not wanted - EARLY_MS / scale <= seen <= wanted + LATE_MS / scale:
            wrong.append(f"{name}_ms: {seen:.1f}, not {wanted}")
    if expected.get("ttft_from", 0) is None:
        wrong += _differs("ttft_ms", timeline.ttft_ms, None)
    return wrong


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
