"""Memory growth: a fresh prompt, the same again, and a short other one, with rests between."""

from __future__ import annotations

from dataclasses import replace

from runs.engine.checks.base import Check, Found, NotApplicable, Params, Scene, chat, question
from runs.engine.checks.long import size
from runs.engine.checks.marker import request as marker
from runs.engine.judge import Expectation
from runs.engine.prompts import Prompt

KEY = "growth"
IDLE_S = 5.0


async def run(scene: Scene, params: Params) -> Found:
    """Sizes are asked in rising order by the suite; memory is sampled beside the run.

    The short prompt comes last since llama.cpp copies a slot's state to its prompt cache only
    when another prompt arrives.
    """
    tokens, idle_s = size(scene, params), float(params.get("idle_s") or IDLE_S)
    prompt = await scene.prompts.long(tokens, scene.count)
    if prompt.tokens is None:
        raise NotApplicable("The server has no tokenizer: the size of a prompt is not known.")
    ask = question(scene, Prompt(prompt.messages, prompt.expected))
    expect = Expectation(prompt_tokens=prompt.tokens)  # what it answers is not the question
    fresh = chat(scene, KEY, f"{tokens:,} tokens, fresh", ask, expect)
    spec = replace(fresh.spec, label=f"{tokens:,} tokens, exact repeat", cache="repeat")
    other = marker(scene, KEY, "a short other prompt")
    await scene.wait(idle_s)
    for request in (fresh, replace(fresh, spec=spec), other):
        await scene.send(request)
        await scene.wait(idle_s)
    return Found(figures={"prompt_tokens_sent": prompt.tokens, "idle_s": idle_s})


GROWTH = Check(
    key=KEY,
    title="Memory growth",
    description=(
        "Sends a fresh prompt of an exact size, rests, sends the same bytes again, rests, and "
        "asks something short. Memory before, at the peak and after each rest is compared."
    ),
    run=run,
    requests=lambda params: 3,
)
