"""Prompts are fresh, deterministic, and as long as was asked."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.prompts import Message, Prompts, as_text

DRAWS = ["marker", "counting", "endless", "json_object"]


def first_word(messages: list[Message]) -> str:
    return str(messages[0]["content"]).split()[0]


@pytest.mark.parametrize("draw", DRAWS)
def test_it_draws_the_same_prompt_from_the_same_seed(draw: str) -> None:
    assert getattr(Prompts(7), draw)() == getattr(Prompts(7), draw)()


@pytest.mark.parametrize("draw", DRAWS)
def test_it_differs_from_the_first_word_on(draw: str) -> None:
    prompts = Prompts(7)
    words = {first_word(getattr(prompts, draw)().messages) for _ in range(50)}
    assert len(words) == 50


def test_a_marker_is_expected_word_for_word_and_shares_no_word_with_its_examples() -> None:
    prompt = Prompts(3).marker()
    *examples, asked = [m["content"] for m in prompt.messages if m["role"] == "user"]
    assert asked == f"Repeat: {prompt.expected}"
    assert not set(prompt.expected.split()) & set(" ".join(examples).split())


def test_a_given_marker_takes_the_place_of_the_drawn_one() -> None:
    assert Prompts(3).marker("north 4").expected == "north 4"


def test_a_schema_is_drawn_anew_so_that_nobody_meets_it_by_luck() -> None:
    prompts = Prompts(1)
    (_, one), (_, other) = prompts.schema(), prompts.schema()
    assert one["properties"]["code"]["enum"] != other["properties"]["code"]["enum"]


def test_a_tool_result_is_asked_for_by_a_number_that_only_the_result_holds() -> None:
    prompt = Prompts(5).tool_result("lookup_weather")
    holding = [m["role"] for m in prompt.messages if prompt.expected in str(m["content"])]
    assert holding == ["tool"]


class WordTokenizer:
    """Counts words and a fixed price for each message, as a template has."""

    def __init__(self) -> None:
        self.calls = 0

    async def count(self, messages: list[Message]) -> int:
        self.calls += 1
        return sum(4 + len(str(m["content"]).split()) for m in messages)


@pytest.mark.parametrize("tokens", [300, 1000, 8192, 32768])
async def test_a_long_prompt_has_exactly_the_tokens_that_were_asked_for(tokens: int) -> None:
    tokenizer = WordTokenizer()
    prompt = await Prompts(tokens).long(tokens, tokenizer.count)
    assert prompt.tokens == tokens
    assert tokenizer.calls <= 12


async def test_its_needle_stands_at_the_start_and_is_asked_for_at_the_end() -> None:
    prompt = await Prompts(9).long(2000, WordTokenizer().count)
    said = [str(m["content"]) for m in prompt.messages]
    text = next(n for n, content in enumerate(said) if len(content) > 2000)
    assert sum(map(len, said[:text])) < 800, "the keys stand at the very start"
    assert any(prompt.expected in content for content in said[:text])
    assert not any(prompt.expected in content for content in said[text:])
    assert said[-1].startswith("What is the key of ") and said[-1] in said[:text]


async def test_without_a_tokenizer_it_is_sized_by_characters_and_says_so() -> None:
    async def unknown(messages: list[Message]) -> Any:
        return None

    prompt = await Prompts(9).long(2000, unknown, chars_per_token=5.0)
    assert prompt.tokens is None
    assert 9_000 < prompt.chars < 12_000


def test_what_was_asked_is_shown_bounded() -> None:
    shown = as_text([{"role": "user", "content": "x" * 100_000}], limit=500)
    assert len(shown) < 600
    assert "left out" in shown
