"""JSON: any object, and an object that must fit a strict schema."""

from __future__ import annotations

from runs.engine.checks.base import Check, Found, NotApplicable, Params, Scene, chat, question
from runs.engine.judge import Expectation

ANY_OBJECT = {"type": "object"}


async def run_json(scene: Scene, params: Params) -> Found:
    if not scene.adapter.takes_json_object:
        raise NotApplicable(f"{scene.adapter.title} takes no json_object, only a strict schema.")
    ask = question(scene, scene.prompts.json_object(), json_object=True)
    await scene.send(chat(scene, "json", "JSON object", ask, Expectation(schema=ANY_OBJECT)))
    return Found()


async def run_schema(scene: Scene, params: Params) -> Found:
    prompt, schema = scene.prompts.schema()
    ask = question(scene, prompt, schema=schema)
    await scene.send(chat(scene, "schema", "strict schema", ask, Expectation(schema=schema)))
    return Found()


JSON = Check(
    key="json",
    title="JSON object",
    description="Asks for a JSON object in JSON mode; the answer must parse as one.",
    run=run_json,
)
SCHEMA = Check(
    key="schema",
    title="Strict schema",
    description=(
        "Asks for an object under a strict schema whose values are drawn at random, so that it "
        "is not met by luck. The answer is validated here."
    ),
    run=run_schema,
)
