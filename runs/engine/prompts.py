"""Prompts: deterministic by seed, unique from the first word on, and fair to small models.

Earlier example turns show the form of the answer, so that a check is about the server's
contract and not about how clever the model is.
"""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]
Count = Callable[[list[Message]], Awaitable[int | None]]

ADJECTIVES = ("silver", "green", "purple", "yellow", "red", "blue", "black", "white", "brown")
NOUNS = ("river", "garden", "window", "table", "castle", "paper", "flower", "water", "bridge")
NAMES = ("Anna", "Bruno", "Carla", "David", "Elena", "Frank")
TIMES_TOLD = 4
CITIES = ("Berlin", "Rome", "Paris", "Madrid", "Vienna", "Oslo", "Lisbon", "Dublin", "Prague")
WHO = (
    "The north wind",
    "A quiet harbour",
    "The old clock",
    "Every third train",
    "The baker",
    "A grey cat",
    "The long road",
    "Our neighbour",
    "The tall lighthouse",
    "A small boat",
)
DOES = ("waits for", "passes by", "looks over", "belongs to", "comes before", "stands near")

WEATHER_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "lookup_weather",
        "description": "Look up the weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def system(text: str) -> Message:
    return {"role": "system", "content": text}


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages, and what an honest answer holds."""

    messages: list[Message]
    expected: str = ""


@dataclass(frozen=True, slots=True)
class LongPrompt:
    """A long prompt. `tokens` is exact where the server counted it, else None."""

    messages: list[Message]
    expected: str
    tokens: int | None
    chars: int


class Prompts:
    """Draws prompts in a fixed order from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def nonce(self) -> str:
        """The first word of every fresh prompt: no cache can hold what follows it."""
        return f"{self.random.getrandbits(64):016x}"

    def markers(self, count: int) -> list[str]:
        """Different from each other in every word."""
        first = self.random.sample(ADJECTIVES, count)
        second = self.random.sample(NOUNS, count)
        numbers = self.random.sample(range(10, 100), count)
        return [f"{a} {b} {n}" for a, b, n in zip(first, second, numbers, strict=True)]

    def marker(self, given: str = "") -> Prompt:
        """To be repeated word for word; `given` takes the place of the drawn one."""
        *examples, drawn = self.markers(4)
        expected = given or drawn
        turns = [system(f"{self.nonce()} Repeat what you are given and say nothing else.")]
        for example in examples:
            turns += [user(f"Repeat: {example}"), assistant(example)]
        return Prompt([*turns, user(f"Repeat: {expected}")], expected)

    def counting(self) -> Prompt:
        """An answer of some fifty tokens that ends by itself: long enough to measure."""
        turns = [system(f"{self.nonce()} You are a helpful assistant.")]
        for first, last in ((3, 9), (5, 16)):
            turns += [user(f"Count from {first} to {last}."), assistant(count_up(first, last))]
        return Prompt([*turns, user("Count from 1 to 20.")])

    def endless(self) -> Prompt:
        """An answer that goes on for a long time, to be cancelled."""
        turns = [
            system(f"{self.nonce()} You are a helpful assistant."),
            user("Count from 3 to 200."),
            assistant(count_up(3, 200)),
        ]
        return Prompt([*turns, user("Count from 1 to 2000, every number, without stopping.")])

    def json_object(self) -> Prompt:
        """A city and a number, to be given back as an object."""
        cities, degrees = self._weather()
        turns = [system(f"{self.nonce()} Answer with a JSON object.")]
        for city, celsius in zip(cities[:2], degrees[:2], strict=True):
            answer = json.dumps({"city": city, "celsius": celsius})
            turns += [user(f"City {city}, celsius {celsius}"), assistant(answer)]
        expected = json.dumps({"city": cities[2], "celsius": degrees[2]})
        return Prompt([*turns, user(f"City {cities[2]}, celsius {degrees[2]}")], expected)

    def schema(self) -> tuple[Prompt, dict[str, Any]]:
        """Codes drawn at random and a narrow range: nobody meets this schema by luck."""
        codes = [
            f"{self.random.choice('bdfgkmprst')}{self.random.getrandbits(20):05x}"
            for _ in range(3)
        ]
        low = self.random.randint(20, 80)
        schema = {
            "type": "object",
            "properties": {
                "code": {"type": "string", "enum": codes},
                "level": {"type": "integer", "minimum": low, "maximum": low + 8},
            },
            "required": ["code", "level"],
            "additionalProperties": False,
        }
        ask = f"Choose one of the codes {', '.join(codes)} and a level from {low} to {low + 8}."
        about = f"{self.nonce()} Answer with a JSON object that has a code and a level."
        return Prompt([system(about), user(ask)], f"one of {codes}, level {low}-{low + 8}"), schema

    def tool_call(self, name: str) -> Prompt:
        """A question that two earlier turns answered by calling the function."""
        cities, _ = self._weather()
        turns = [system(f"{self.nonce()} You look up the weather with the function.")]
        for index, city in enumerate(cities[:2]):
            turns += [user(f"Weather in {city}?"), calling(name, city, index)]
        return Prompt([*turns, user(f"Weather in {cities[2]}?")], cities[2])

    def tool_result(self, name: str) -> Prompt:
        """A call and its result; the answer must use the result's number."""
        cities, degrees = self._weather()
        turns = [system(f"{self.nonce()} You look up the weather with the function.")]
        for index, (city, celsius) in enumerate(zip(cities, degrees, strict=True)):
            turns += [
                user(f"Weather in {city}?"),
                calling(name, city, index),
                tool_answer(index, {"city": city, "celsius": celsius}),
                assistant(f"It is {celsius} degrees in {city}."),
            ]
        return Prompt(turns[:-1], str(degrees[2]))

    def _weather(self) -> tuple[list[str], list[int]]:
        return self.random.sample(CITIES, 3), self.random.sample(range(11, 39), 3)

    async def long(self, tokens: int, count: Count, chars_per_token: float = 4.0) -> LongPrompt:
        """A prompt of so many tokens with a needle at its start, asked for at its end.

        Exact when `count` can tell; otherwise sized by `chars_per_token`.
        """
        needle = Needle(self)
        text = needle.text(int(tokens * chars_per_token))
        first = await count(needle.messages(text))
        if first is None:
            messages = needle.messages(text)
            return LongPrompt(messages, needle.expected, None, length_of(messages))
        text = await fit(needle, tokens, first, text, count)
        messages = needle.messages(text)
        counted = await count(messages)
        return LongPrompt(messages, needle.expected, counted, length_of(messages))


class Needle:
    """Two keys, each asked for and told four times in the first turns; after a long text one of
    them is asked for again. With the beginning cut away it cannot be answered.

    The words of the question, of its earlier answers and of the new one are the same, and nothing
    like them comes in between: so a model of 135M parameters too recalls it over thousands of
    tokens. With four keys told once it confused them.
    """

    def __init__(self, prompts: Prompts) -> None:
        self.prompts = prompts
        self.nonce = prompts.nonce()
        self.names = prompts.random.sample(NAMES, 2)
        self.keys = [m.rsplit(" ", 1)[0] for m in prompts.markers(2)]  # words survive distance
        self.expected = self.keys[0]
        self._text = ""

    def asks(self, index: int) -> Message:
        return user(f"What is the key of {self.names[index]}?")

    def says(self, index: int) -> Message:
        return assistant(f"The key of {self.names[index]} is {self.keys[index]}.")

    def text(self, chars: int) -> str:
        """Filler of about so many characters; more is always a continuation of less."""
        draw = self.prompts.random
        parts = [self._text] if self._text else []
        have = len(self._text)
        while have < chars:
            sentence = f"{draw.choice(WHO)} {draw.choice(DOES)} {draw.choice(WHO).lower()}."
            parts.append(sentence)
            have += len(sentence) + 1
        self._text = " ".join(parts)
        return self._text[: max(chars, 0)]

    def messages(self, text: str) -> list[Message]:
        told = [turn for index in (0, 1) for turn in (self.asks(index), self.says(index))]
        return [
            system(f"{self.nonce} You are a helpful assistant."),
            *TIMES_TOLD * told,
            user(f"Read this: {text}"),
            assistant("Thank you."),
            self.asks(0),
        ]


async def fit(needle: Needle, tokens: int, counted: int, text: str, count: Count) -> str:
    """Filler with which the prompt has exactly `tokens` tokens, or as near as words allow."""
    base = await count(needle.messages(""))
    per_char = max(counted - (base or 0), 1) / max(len(text), 1)
    for _ in range(4):
        missing = tokens - counted
        if 0 <= missing <= 48:
            break
        text = whole_words(needle.text(len(text) + int((missing - 24) / per_char)))
        counted = await count(needle.messages(text)) or tokens
    for _ in range(4):
        missing = tokens - counted
        if missing == 0:
            break
        text = text + " so" * missing if missing > 0 else text[: 3 * missing]
        counted = await count(needle.messages(text)) or tokens
    return text


def whole_words(text: str) -> str:
    return text.rsplit(" ", 1)[0] if " " in text else text


def count_up(first: int, last: int) -> str:
    return ", ".join(str(number) for number in range(first, last + 1)) + "."


def calling(name: str, city: str, index: int) -> Message:
    arguments = json.dumps({"city": city})
    function = {"name": name, "arguments": arguments}
    call = {"id": f"call_{index}", "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def tool_answer(index: int, result: dict[str, Any]) -> Message:
    return {"role": "tool", "tool_call_id": f"call_{index}", "content": json.dumps(result)}


def length_of(messages: list[Message]) -> int:
    return sum(len(str(message.get("content", ""))) for message in messages)


def as_text(messages: list[Message], limit: int = 2000) -> str:
    """What was asked, for people: roles and texts, the middle left out where it is long."""
    text = "\n".join(f"{m['role']}: {spoken(m)}" for m in messages)
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - limit:,} characters left out ...]\n{text[-half:]}"


def spoken(message: Message) -> str:
    calls = message.get("tool_calls")
    return json.dumps(calls[0]["function"]) if calls else str(message.get("content", ""))
