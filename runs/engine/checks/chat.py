"""Plain chat: an open answer that must arrive whole, in one piece or as a stream."""

from __future__ import annotations

from runs.engine.checks.base import Check, Found, Params, Scene, chat, question
from runs.engine.judge import Expectation


async def run_whole(scene: Scene, params: Params) -> Found:
    ask = question(scene, scene.prompts.counting(), stream=False)
    await scene.send(chat(scene, "chat", "chat", ask, Expectation()))
    return Found()


async def run_streamed(scene: Scene, params: Params) -> Found:
    ask = question(scene, scene.prompts.counting())
    await scene.send(chat(scene, "stream", "stream", ask, Expectation()))
    return Found()


CHAT = Check(
    key="chat",
    title="Plain chat",
    description="Asks for a list of numbers, not streamed: one whole JSON answer with an end.",
    run=run_whole,
)
STREAM = Check(
    key="stream",
    title="Plain chat, streamed",
    description="Asks for a list of numbers as a stream: long enough to measure decoding.",
    run=run_streamed,
)
