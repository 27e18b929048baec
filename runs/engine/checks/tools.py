"""Native tool calls, and the turn after one."""

from __future__ import annotations

import copy
from typing import Any

from runs.engine.checks.base import Check, Found, Params, Scene, chat, question
from runs.engine.judge import Expectation
from runs.engine.prompts import WEATHER_TOOL


def tool_named(params: Params) -> dict[str, Any]:
    """The weather tool, under another name where one was asked for."""
    tool = copy.deepcopy(WEATHER_TOOL)
    tool["function"]["name"] = params.get("expect_tool") or tool["function"]["name"]
    return tool


async def run_call(scene: Scene, params: Params) -> Found:
    tool = tool_named(params)
    name = tool["function"]["name"]
    ask = question(scene, scene.prompts.tool_call(name), tools=[tool], tool_choice="auto")
    expect = Expectation(tool=name, tool_schema=tool["function"]["parameters"])
    await scene.send(chat(scene, "tool", f"call {name}", ask, expect))
    return Found()


async def run_result(scene: Scene, params: Params) -> Found:
    tool = tool_named(params)
    name = tool["function"]["name"]
    prompt = scene.prompts.tool_result(name)
    ask = question(scene, prompt, tools=[tool], tool_choice="auto")
    await scene.send(
        chat(
            scene,
            "tool_result",
            "answer after a result",
            ask,
            Expectation(contains=prompt.expected),
        )
    )
    return Found()


TOOL = Check(
    key="tool",
    title="Tool call",
    description=(
        "Offers a function and asks a question that it answers. The call must have the right "
        "name, arguments that fit its schema, and the finish reason of a call."
    ),
    run=run_call,
)
TOOL_RESULT = Check(
    key="tool_result",
    title="Tool result",
    description="Gives a call and its result back; the answer must use the result's number.",
    run=run_result,
)
