"""What the instrument knows: each runtime, what it tells and its traps; every failure class.

Read off the code that measures, so that a page can never promise more than it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from runs.engine.failure_classes import FAILURE_CLASSES, FailureClass
from runs.engine.runtimes import ADAPTERS
from runs.engine.runtimes.base import Adapter
from runs.engine.runtimes.gateways import GATEWAY_WARNINGS

GROUPS = {
    "reach": ("Reach", "Was anybody there, and willing?"),
    "shape": ("Shape", "Did the answer have the form that clients rely on?"),
    "time": ("Time", "Did it come in time, and could it be timed?"),
    "limit": ("Limits", "Was the whole prompt read, and the whole answer sent?"),
    "content": ("Content", "Was it the answer that was asked for?"),
    "identity": ("Identity", "Was it the model that was meant?"),
    "server": ("Server", "Did the server stay whole?"),
    "ours": ("Ours", "What we stopped, or could not tell."),
}


@dataclass(frozen=True, slots=True)
class Ability:
    """Something that a runtime may tell; `how` is empty where it does not."""

    title: str
    how: str
    missing: str


@dataclass(frozen=True, slots=True)
class RuntimeCard:
    """One adapter for people."""

    key: str
    title: str
    proven_against: str
    is_proven_live: bool  # a real server answered, not a recording
    abilities: list[Ability]
    traps: tuple[str, ...]
    promises: list[str]


@dataclass(frozen=True, slots=True)
class ClassGroup:
    key: str
    title: str
    question: str
    classes: list[FailureClass]


def runtime_cards() -> list[RuntimeCard]:
    """Every adapter, in the order in which they are registered."""
    return [
        RuntimeCard(
            key=key,
            title=adapter.title,
            proven_against=adapter.proven_against,
            is_proven_live="a real" in adapter.proven_against,
            abilities=abilities(adapter),
            traps=adapter.traps,
            promises=promises(adapter),
        )
        for key, adapter in ADAPTERS.items()
    ]


def abilities(adapter: type[Adapter]) -> list[Ability]:
    """What can be read: a method of its own is what makes an adapter able."""
    own_health = adapter.health is not Adapter.health
    identity = adapter.enrich is not Adapter.enrich or adapter.describe is not Adapter.describe
    counts = adapter.count_tokens is not Adapter.count_tokens
    pooling = [p for p in (adapter.embeddings_path, adapter.rerank_path) if p]
    return [
        Ability(
            "Health and loading",
            "from its own health endpoint"
            if own_health
            else "from whether the model list answers",
            "",
        ),
        Ability(
            "What is loaded",
            "by its own report" if identity else "",
            "only names are listed, and a name proves nothing",
        ),
        Ability(
            "Slots, queue, counters",
            f"asked every {adapter.poll_pause_s:g} s at most" if adapter.reports_load else "",
            "it does not tell how busy it is",
        ),
        Ability(
            "Exact prompt size",
            "by its own tokenizer" if counts else "",
            "sizes are calibrated from a trial prompt and its usage",
        ),
        Ability(
            "Memory by its own account",
            "beside what we sample" if adapter.reports_memory else "",
            "only what the worker on its host samples",
        ),
        Ability("Embeddings and rerank", ", ".join(pooling), "no such path is known"),
    ]


def promises(adapter: type[Adapter]) -> list[str]:
    """Optional fields whose absence is a finding here, since its contract promises them."""
    contract = adapter.contract
    words = {
        "done": "[DONE] at the end of a stream",
        "finish_reason": "a finish reason",
        "usage": "usage, where it was asked for",
        "cached_tokens": "how many prompt tokens came from a cache",
    }
    return [text for name, text in words.items() if getattr(contract, name, False)]


def gateway_warnings() -> dict[str, str]:
    return dict(GATEWAY_WARNINGS)


def class_groups() -> list[ClassGroup]:
    """All failure classes in the groups of the table, each group once."""
    rows = sorted(FAILURE_CLASSES.values(), key=lambda row: list(GROUPS).index(row.group))
    return [
        ClassGroup(key, *GROUPS[key], classes=list(found))
        for key, found in groupby(rows, key=lambda row: row.group)
    ]
