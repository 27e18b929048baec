"""Prompts of a given size whose answer is long enough to measure: what loads a server."""

from __future__ import annotations

from runs.engine.checks.base import Scene
from runs.engine.checks.long import chars_per_token, size
from runs.engine.prompts import (
    LongPrompt,
    Message,
    Needle,
    assistant,
    count_up,
    fit,
    length_of,
    system,
    user,
)

GUESSED_CHARS = 4.0  # a token, until the server has counted


class Counting(Needle):
    """A long text, then a short question with two answered ones before it, so that a small model
    too answers some fifty tokens and ends."""

    def messages(self, text: str) -> list[Message]:
        turns = [
            system(f"{self.nonce} You are a helpful assistant."),
            user(f"Read this: {text}"),
            assistant("Thank you."),
        ]
        for first, last in ((3, 9), (5, 16)):
            turns += [user(f"Count from {first} to {last}."), assistant(count_up(first, last))]
        return [*turns, user("Count from 1 to 20.")]


async def sized(scene: Scene, tokens: int, clients: int) -> list[LongPrompt]:
    """One fresh prompt a client. Raises NotApplicable where they do not fit into a slot, or
    nobody can tell their size."""
    asked = size(scene, {"tokens": tokens})
    first = await exact(scene, asked)
    if first is not None:
        rest = [await exact(scene, asked) for _ in range(clients - 1)]
        return [first, *(prompt for prompt in rest if prompt is not None)]
    chars = await chars_per_token(scene)
    return [about(scene, int(asked * chars)) for _ in range(clients)]


async def exact(scene: Scene, tokens: int) -> LongPrompt | None:
    """None where the server cannot count."""
    drawn = Counting(scene.prompts)
    text = drawn.text(int(tokens * GUESSED_CHARS))
    counted = await scene.count(drawn.messages(text))
    if counted is None:
        return None
    messages = drawn.messages(await fit(drawn, tokens, counted, text, scene.count))
    return LongPrompt(messages, "", await scene.count(messages), length_of(messages))


def about(scene: Scene, chars: int) -> LongPrompt:
    drawn = Counting(scene.prompts)
    without = length_of(drawn.messages(""))
    messages = drawn.messages(drawn.text(chars - without))
    return LongPrompt(messages, "", None, length_of(messages))
