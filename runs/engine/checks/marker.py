"""Repeat a phrase: the smallest answer that can be right or wrong."""

from __future__ import annotations

from runs.engine.checks.base import Check, Found, Params, Request, Scene, chat, question
from runs.engine.judge import Expectation


def request(scene: Scene, key: str, label: str, *, given: str = "", clients: int = 1) -> Request:
    """A streamed marker question; other checks use it to see whether the server still works."""
    prompt = scene.prompts.marker(given)
    expect = Expectation(marker=prompt.expected)
    return chat(scene, key, label, question(scene, prompt), expect, clients=clients)


async def run(scene: Scene, params: Params) -> Found:
    await scene.send(request(scene, "marker", "marker", given=str(params.get("marker") or "")))
    return Found()


MARKER = Check(
    key="marker",
    title="Marker",
    description=(
        "Streams one short answer. Three earlier turns repeat a phrase; the fourth must be "
        "repeated too. The right answer does not depend on the size of the model."
    ),
    run=run,
)
