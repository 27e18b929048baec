"""The grid of a sweep, its order, and the arithmetic of fixed slots. Pure: no Django."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

MOST_CELLS = 400
MOST_VALUES = 12
MOST_REPEATS = 20
MOST_WARM_UP = 20
CACHES = ("fresh", "repeat")
ANSWER_TOKENS = 96  # room for the answer, as the engine's checks keep it free
RANGES = {
    "runtime_parallel": (1, 1024),
    "client_concurrency": (1, 256),
    "prompt_tokens": (256, 2_000_000),
}
TITLES = {
    "runtime_parallel": "Runtime parallel",
    "client_concurrency": "Client concurrency",
    "prompt_tokens": "Prompt size",
}


class GridRefused(ValueError):
    """The grid cannot be swept; `field` names which part, the message says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Place:
    """One cell of the grid. `runtime_parallel` None: somebody else runs the server;
    `prompt_tokens` None: the workload has no prompt size."""

    runtime_parallel: int | None
    client_concurrency: int
    prompt_tokens: int | None
    cache: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Grid:
    """Two axes that are never mixed, prompt size, and fresh or exact repeat."""

    runtime_parallel: tuple[int, ...] = ()
    client_concurrency: tuple[int, ...] = (1,)
    prompt_tokens: tuple[int, ...] = ()
    caches: tuple[str, ...] = ("fresh",)
    repeats: int = 1
    warm_up: int = 1  # requests at the start of each server, counted nowhere
    context_totals: tuple[int, ...] = field(default=())  # tokens, one for each runtime parallel

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; `from_dict` gives the grid back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Grid:
        known: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in data.items()
        }
        return cls(**known)

    def check(self, context_per_slot: int | None) -> None:
        """Raises GridRefused for values out of range, too many cells, or a wrong total."""
        for name in RANGES:
            check_values(name, getattr(self, name))
        if not self.client_concurrency:
            raise GridRefused("client_concurrency", "Give at least one client concurrency.")
        if not self.caches or set(self.caches) - set(CACHES):
            raise GridRefused("caches", "Choose fresh prompts, exact repeats, or both.")
        check_between("repeats", "Repeats", self.repeats, 1, MOST_REPEATS)
        check_between("warm_up", "Warm-up", self.warm_up, 0, MOST_WARM_UP)
        check_totals(self.runtime_parallel, context_per_slot, self.context_totals)
        cells = len(self.places())
        if cells > MOST_CELLS:
            raise GridRefused(
                "client_concurrency",
                f"That makes {cells:,} cells, and a sweep takes {MOST_CELLS} at most. "
                "Leave some values out, or sweep twice.",
            )

    def places(self) -> list[Place]:
        """Every cell, in the order of the grid."""
        return [
            Place(parallel, clients, tokens, cache, repeat)
            for parallel in self.runtime_parallel or (None,)
            for tokens in self.prompt_tokens or (None,)
            for cache in self.caches
            for clients in self.client_concurrency
            for repeat in range(self.repeats)
        ]

    def ordered(self, seed: int) -> list[Place]:
        """Random by seed, so that no cell always follows the same one; cells of one runtime
        parallel stay together, since each server is launched once."""
        draw = random.Random(seed)
        groups = list(self.runtime_parallel or (None,))
        draw.shuffle(groups)
        order: list[Place] = []
        for parallel in groups:
            group = [place for place in self.places() if place.runtime_parallel == parallel]
            draw.shuffle(group)
            order += group
        return order


def check_values(name: str, values: tuple[int, ...]) -> None:
    low, high = RANGES[name]
    if len(values) > MOST_VALUES:
        raise GridRefused(name, f"{TITLES[name]}: {MOST_VALUES} values at most.")
    if len(set(values)) < len(values):
        raise GridRefused(name, f"{TITLES[name]}: a value stands there twice.")
    for value in values:
        check_between(name, TITLES[name], value, low, high)


def check_between(name: str, title: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise GridRefused(name, f"{title} must be from {low:,} to {high:,}; {value:,} is not.")


def check_totals(
    parallels: tuple[int, ...], context_per_slot: int | None, totals: tuple[int, ...]
) -> None:
    """Fixed slots: total = slots x per slot. A given total that says otherwise is refused."""
    if not totals:
        return
    if context_per_slot is None:
        raise GridRefused("context_totals", "A total needs the context of one slot beside it.")
    if len(totals) != len(parallels):
        raise GridRefused(
            "context_totals",
            f"Give one total for each runtime parallel: {len(parallels)} are due, and "
            f"{len(totals)} stand there. Or leave it empty: it is worked out.",
        )
    for slots, total in zip(parallels, totals, strict=True):
        if total != slots * context_per_slot:
            raise GridRefused(
                "context_totals",
                f"{arithmetic(slots, context_per_slot)}, but the total says {total:,}.",
            )


def arithmetic(slots: int, context_per_slot: int) -> str:
    """ "8 slots × 131,072 tokens = 1,048,576"."""
    word = "slot" if slots == 1 else "slots"
    return f"{slots} {word} × {context_per_slot:,} tokens = {slots * context_per_slot:,}"


def does_not_fit(place: Place, context_per_slot: int | None) -> str:
    """Why a prompt and its answer do not fit into a slot; empty when they do."""
    if place.prompt_tokens is None or context_per_slot is None:
        return ""
    if place.prompt_tokens + ANSWER_TOKENS <= context_per_slot:
        return ""
    return (
        f"A prompt of {place.prompt_tokens:,} tokens and an answer of up to {ANSWER_TOKENS} do "
        f"not fit into a slot of {context_per_slot:,}."
    )


def numbers(text: str) -> tuple[int, ...]:
    """ "1, 2, 4" or "8192 32K" as numbers; K is 1,024. Raises ValueError with the word."""
    return tuple(number(word) for word in text.replace(",", " ").replace(";", " ").split())


def number(word: str) -> int:
    digits, factor = (word[:-1], 1024) if word[-1:] in "kK" else (word, 1)
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        raise ValueError(f"{word[:20]!r} is no whole number.")
    return int(digits) * factor


def written(values: Iterable[int]) -> str:
    """The opposite of `numbers`."""
    return ", ".join(str(value) for value in values)
