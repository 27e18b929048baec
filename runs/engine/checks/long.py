"""Long context, fresh: an exact number of tokens, with a needle at the very start."""

from __future__ import annotations

from runs.engine.checks.base import Check, Found, NotApplicable, Params, Scene, chat, question
from runs.engine.judge import Expectation
from runs.engine.prompts import LongPrompt, Prompt
from runs.engine.records import RequestResult

DEFAULT_TOKENS = 2048
ROOM_TOKENS = 96  # for the answer, in a context that the prompt would fill
SAME_SIZE = 0.01
CALIBRATION_TOKENS = 512


def size(scene: Scene, params: Params) -> int:
    """Prompt tokens to send: as asked, or less the room for an answer, where that changes the size
    by no more than a hundredth. What the server tells of its slots counts before what was
    configured; where neither is known, the server will tell by its answer."""
    asked = int(params.get("tokens") or DEFAULT_TOKENS)
    limit = scene.facts.context_per_slot or scene.plan.target.context_per_slot
    if not limit or asked + ROOM_TOKENS <= limit:
        return asked
    if asked > limit or asked * SAME_SIZE < ROOM_TOKENS:
        raise NotApplicable(
            f"a prompt of {asked:,} tokens and its answer do not fit into a slot of {limit:,}."
        )
    return limit - ROOM_TOKENS


async def run(scene: Scene, params: Params) -> Found:
    tokens = size(scene, params)
    prompt = await scene.prompts.long(tokens, scene.count)
    if prompt.tokens is None:
        prompt = await calibrated(scene, tokens)
    sent = await send(scene, prompt, f"{tokens:,} tokens, fresh")
    return Found(
        figures={
            "prompt_tokens_asked": tokens,
            "prompt_tokens_sent": prompt.tokens,
            "prompt_tokens_reported": sent.tokens.prompt,
            "size_origin": "tokenizer of the server" if prompt.tokens else "calibrated",
        }
    )


async def calibrated(scene: Scene, tokens: int) -> LongPrompt:
    return await scene.prompts.long(tokens, scene.count, await chars_per_token(scene))


async def chars_per_token(scene: Scene) -> float:
    """Without a tokenizer: a short prompt tells how many characters make a token here."""
    trial = await scene.prompts.long(CALIBRATION_TOKENS, scene.count)
    result = await send(scene, trial, "calibration")
    if not result.tokens.prompt:
        raise NotApplicable("The server neither counts tokens nor reports them: size unknown.")
    return trial.chars / result.tokens.prompt


async def send(scene: Scene, prompt: LongPrompt, label: str) -> RequestResult:
    ask = question(scene, Prompt(prompt.messages, prompt.expected))
    expect = Expectation(contains=prompt.expected, prompt_tokens=prompt.tokens)
    return (await scene.send(chat(scene, "long", label, ask, expect))).result


LONG = Check(
    key="long",
    title="Long context, fresh",
    description=(
        "Sends a prompt of an exact number of tokens, unique from its first word. What must be "
        "answered stands at its start, so that a prompt cut short shows."
    ),
    run=run,
)
