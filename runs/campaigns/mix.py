"""What the cycles of a campaign ask: a few parts, fixed as suites when it starts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import TextChoices

from catalog.models import Revision
from runs.engine.checks.long import ROOM_TOKENS
from runs.services import kept_suite

MEDIUM_TOKENS = 2048
LONG_TOKENS = (131072, 65536, 32768, 8192, 4096)
MOST_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the mix; `suite_id` is a version that never changes."""

    name: str
    suite_id: int
    checks: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Basis(TextChoices):
    """What the deployment is relied on for."""

    AGENT = "agent", "Agent: chat, JSON and tool calls"
    CHAT = "chat", "Chat only: no JSON, no tool calls"
    EMBEDDING = "embedding", "Embeddings"
    RERANK = "rerank", "Rerank"


def basis_for(task: str) -> Basis:
    """What fits a deployment of this task, until somebody chooses otherwise."""
    return {"embedding": Basis.EMBEDDING, "rerank": Basis.RERANK}.get(task, Basis.AGENT)


def make_mix(revision: Revision, basis: Basis) -> list[Part]:
    """The parts for this configuration: nothing is asked that its slots cannot hold."""
    if basis in (Basis.EMBEDDING, Basis.RERANK):
        parts = pooling_parts("embeddings" if basis == Basis.EMBEDDING else "rerank")
    else:
        parts = chat_parts(revision, tools=basis == Basis.AGENT)
    return [stored(name, basis, checks) for name, checks in parts.items()]


Checks = list[dict[str, Any]]


def chat_parts(revision: Revision, *, tools: bool) -> dict[str, Checks]:
    light = [ask("identity"), ask("marker"), ask("stream")]
    medium = medium_tokens(revision.context_per_slot)
    structured = [ask("json"), ask("tool")] if tools else []
    usual = [*light, *structured, ask("long", tokens=medium), ask("repeat", tokens=medium)]
    return {
        "usual": usual,
        "long": [*usual, ask("long", tokens=long_tokens(revision.context_per_slot))],
        "burst": [*light, ask("concurrency", clients=at_once(revision))],
        "light": light,
    }


def pooling_parts(check: str) -> dict[str, Checks]:
    light = [ask("identity"), ask(check)]
    return {
        "usual": light,
        "long": light,
        "burst": [*light, ask(check, clients=MOST_AT_ONCE)],
        "light": light,
    }


def ask(key: str, **params: Any) -> dict[str, Any]:
    return {"key": key, "params": params}


def medium_tokens(per_slot: int | None) -> int:
    """An eighth of a small slot, so that a cycle stays short where slots are."""
    return MEDIUM_TOKENS if per_slot is None else min(MEDIUM_TOKENS, max(256, per_slot // 8))


def long_tokens(per_slot: int | None) -> int:
    """The largest usual size that the slot holds; without a known slot a careful one."""
    if per_slot is None:
        return 8192
    fits = (size for size in LONG_TOKENS if size + ROOM_TOKENS <= per_slot)
    return next(fits, medium_tokens(per_slot))


def at_once(revision: Revision) -> int:
    """As many as admission allows, and never more than there are slots."""
    admitted = [revision.admission.get(key) for key in ("external_admission", "proxy_admission")]
    allowed = [revision.parallel, *admitted, MOST_AT_ONCE]
    return min(limit for limit in allowed if isinstance(limit, int) and limit > 0)


def stored(name: str, basis: Basis, checks: Checks) -> Part:
    title = f"Campaign cycle, {basis.value}, {name}"
    suite = kept_suite(f"cycle-{basis}-{name}", title, checks)
    return Part(name, suite.pk, tuple(check["key"] for check in checks))
