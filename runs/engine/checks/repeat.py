"""Exact repeat: the same bytes twice. What the second gains is the cache's doing."""

from __future__ import annotations

from dataclasses import replace

from runs.engine.checks.base import Check, Found, Params, Scene, chat, question
from runs.engine.checks.long import DEFAULT_TOKENS, size
from runs.engine.judge import Expectation
from runs.engine.prompts import Prompt
from runs.engine.records import RequestResult


async def run(scene: Scene, params: Params) -> Found:
    """Fresh and repeat are two requests, and never one figure."""
    prompt = await scene.prompts.long(
        size(scene, {"tokens": DEFAULT_TOKENS // 2} | params), scene.count
    )
    ask = question(scene, Prompt(prompt.messages, prompt.expected))
    expect = Expectation(contains=prompt.expected, prompt_tokens=prompt.tokens)
    fresh = chat(scene, "repeat", "fresh", ask, expect)
    again = replace(fresh, spec=replace(fresh.spec, label="exact repeat", cache="repeat"))
    first = (await scene.send(fresh)).result
    second = (await scene.send(again)).result
    return Found(figures=compared(first, second))


def compared(fresh: RequestResult, repeat: RequestResult) -> dict[str, float | str | None]:
    """Both sides of the cache; a runtime that does not tell cached tokens leaves them empty."""
    same = fresh.answer == repeat.answer if fresh.answer and repeat.answer else None
    return {
        "fresh_ttft_ms": fresh.timeline.ttft_ms,
        "repeat_ttft_ms": repeat.timeline.ttft_ms,
        "fresh_cached_tokens": fresh.tokens.cached,
        "repeat_cached_tokens": repeat.tokens.cached,
        "prompt_tokens": fresh.tokens.prompt,
        "same_answer": same,
    }


REPEAT = Check(
    key="repeat",
    title="Exact repeat",
    description="Sends a fresh prompt, then the same bytes again; both are kept apart.",
    run=run,
    requests=lambda params: 2,
)
