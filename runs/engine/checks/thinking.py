"""Thinking on and off, where the model has it. Only what arrives proves it."""

from __future__ import annotations

from runs.engine.checks.base import Check, Found, NotApplicable, Params, Scene, chat, question
from runs.engine.judge import Expectation
from runs.engine.outcomes import Finding
from runs.engine.records import RequestResult


async def run(scene: Scene, params: Params) -> Found:
    if scene.facts.settings.get("thinking_switch") is False:
        raise NotApplicable("The chat template of this model has no thinking to switch.")
    on = await ask(scene, thinking=True)
    if not thought(on):
        raise NotApplicable("Asked to think, the model showed no thinking.")
    off = await ask(scene, thinking=False)
    figures = {
        "reasoning_tokens_on": on.tokens.reasoning,
        "reasoning_tokens_off": off.tokens.reasoning,
        "completion_tokens_on": on.tokens.completion,
        "completion_tokens_off": off.tokens.completion,
    }
    return Found(still_thinking(off), figures)


async def ask(scene: Scene, *, thinking: bool) -> RequestResult:
    prompt = scene.prompts.marker()
    label = f"thinking {'on' if thinking else 'off'}"
    request = question(scene, prompt, thinking=thinking)
    expect = Expectation(contains=prompt.expected)
    return (await scene.send(chat(scene, "thinking", label, request, expect))).result


def thought(result: RequestResult) -> bool:
    return bool(result.reasoning or result.tokens.reasoning)


def still_thinking(off: RequestResult) -> list[Finding]:
    if not thought(off):
        return []
    return [Finding("reasoning_leaked", "Thinking was switched off, and the model still thought.")]


THINKING = Check(
    key="thinking",
    title="Thinking on and off",
    description="Asks once with thinking and once without; without, none may arrive.",
    run=run,
    requests=lambda params: 2,
)
