"""What a check is, and what the session offers to one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from runs.engine.judge import Expectation
from runs.engine.outcomes import Finding
from runs.engine.plan import Plan
from runs.engine.prompts import Prompt, Prompts, as_text
from runs.engine.records import Identity, RequestResult, RequestSpec
from runs.engine.runtimes.base import Adapter, Ask, Facts

Params = dict[str, Any]
GREEDY = {"temperature": 0.0}


class NotApplicable(Exception):
    """The check has nothing to ask here. It is left out, and never counts as a pass."""


@dataclass(slots=True)
class Found:
    """What a check saw beyond its requests' own results."""

    findings: list[Finding] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a check: what is sent, what is expected, and in words what was asked."""

    spec: RequestSpec
    expect: Expectation
    asked: str
    stop_after_tokens: int | None = None  # the check itself cancels then
    stop_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A request's result, and the decoded body where it was one JSON document."""

    result: RequestResult
    body: Any = None


class Scene(Protocol):
    """The running session, as a check sees it."""

    plan: Plan
    adapter: Adapter
    facts: Facts
    identity: Identity
    prompts: Prompts

    async def send(self, request: Request) -> Sent:
        """Send one request, judge it, and keep its result."""

    async def send_together(self, requests: list[Request]) -> tuple[list[Sent], dict[str, Any]]:
        """Send all at one moment; also how well they really ran together."""

    async def wait(self, seconds: float) -> None:
        """Do nothing at all, unless the run is cancelled."""

    async def count(self, messages: list[dict[str, Any]]) -> int | None:
        """Prompt tokens as the server counts them; None where it cannot."""

    def note(self, text: str) -> None:
        """Tell people something that is no result."""


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of question. `requests` tells how many requests it will send."""

    key: str
    title: str
    description: str
    run: Callable[[Scene, Params], Awaitable[Found]]
    requests: Callable[[Params], int] = lambda params: 1


def chat(
    scene: Scene,
    key: str,
    label: str,
    ask: Ask,
    expect: Expectation,
    *,
    cache: str = "fresh",
    clients: int = 1,
    stop_after_tokens: int | None = None,
    stop_after_s: float | None = None,
) -> Request:
    """A chat request as the runtime wants it."""
    path, body = scene.adapter.chat(ask, scene.plan.target.model)
    spec = RequestSpec("POST", path, body, ask.stream, key, label, cache, clients)
    asked = as_text(ask.messages)
    return Request(spec, expect, asked, stop_after_tokens, stop_after_s)


def question(scene: Scene, prompt: Prompt, *, stream: bool = True, **options: Any) -> Ask:
    """Greedy, unless the plan says how to sample: the same question gets the same answer."""
    sampling = scene.plan.sampling or GREEDY
    return Ask(prompt.messages, stream=stream, sampling=sampling, **options)


def spread(values: list[float | None]) -> dict[str, float] | None:
    """Lowest, median and highest of what was measured; None without a measurement."""
    known = sorted(v for v in values if v is not None)
    if not known:
        return None
    middle = len(known) // 2
    median = known[middle] if len(known) % 2 else (known[middle - 1] + known[middle]) / 2
    return {
        "lowest": round(known[0], 3),
        "median": round(median, 3),
        "highest": round(known[-1], 3),
        "n": len(known),
    }
