"""The suites that come with the engine. A suite is data; a person may change a copy of it."""

from __future__ import annotations

from dataclasses import dataclass

from runs.engine.plan import CheckSpec

LONG_SIZES = (8192, 32768, 65536, 100000, 131072)  # tokens
SHORT_SIZES = (2048, 4096)  # for slots into which none of these fits
CLIENTS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Suite:
    """A named list of checks with their parameters, in order."""

    key: str
    name: str
    description: str
    checks: tuple[CheckSpec, ...]


def checks(*keys: str) -> tuple[CheckSpec, ...]:
    return tuple(CheckSpec(key) for key in keys)


SMOKE = Suite(
    "smoke",
    "Smoke",
    "Is it alive, is it the right model, does it answer as a whole and as a stream? "
    "Under a minute.",
    checks("identity", "marker", "chat", "stream"),
)
CONTRACT = Suite(
    "contract",
    "Contract",
    "Everything that an agent relies on: streams, JSON, a strict schema, tool calls and their "
    "results, thinking where the model has it, and a slot that comes free after a cancel.",
    checks(
        "identity",
        "marker",
        "chat",
        "stream",
        "json",
        "schema",
        "tool",
        "tool_result",
        "thinking",
        "cancel",
    ),
)
LONG_CONTEXT = Suite(
    "long-context",
    "Long context",
    "Fresh prompts of 2K to 131K tokens, exactly counted, then exact repeats. Sizes that do "
    "not fit into a slot are left out and said so.",
    (
        *checks("identity", "marker"),
        *(CheckSpec("long", {"tokens": tokens}) for tokens in (*SHORT_SIZES, *LONG_SIZES)),
        *(CheckSpec("repeat", {"tokens": tokens}) for tokens in (SHORT_SIZES[0], LONG_SIZES[0])),
    ),
)
MEMORY = Suite(
    "memory",
    "Memory growth",
    "Fresh prompts of rising size, each with rests, an exact repeat and a short other prompt: "
    "what context costs in memory, and what stays behind.",
    (
        CheckSpec("identity"),
        # What a server sets up once is no growth, and a late saved cache not the next prompt's.
        CheckSpec("long", {"tokens": 1024}),
        CheckSpec("marker"),
        *(CheckSpec("growth", {"tokens": tokens}) for tokens in (1024, *SHORT_SIZES, *LONG_SIZES)),
    ),
)
CONCURRENT = Suite(
    "concurrency",
    "Concurrency",
    "1, 2, 4 and 8 requests at one moment, each judged, with the spread between them.",
    (
        *checks("identity", "marker"),
        *(CheckSpec("concurrency", {"clients": clients}) for clients in CLIENTS),
    ),
)
POOLING = Suite(
    "pooling",
    "Pooling: embeddings",
    "Embeddings: how many, how long, finite, unit length or not, the same in every form.",
    checks("identity", "embeddings"),
)
RERANKING = Suite(
    "rerank-pooling",
    "Pooling: rerank",
    "Rerank scores: one for each document, finite, stable, and in a sane order.",
    checks("identity", "rerank"),
)
FULL = Suite(
    "full",
    "Full qualification",
    "The whole contract, an exact repeat, concurrency up to 8, a slot that comes free, and fresh "
    "prompts of 2K to 131K tokens. Sizes that do not fit into a slot are left out and said so.",
    (
        *CONTRACT.checks[:-1],
        CheckSpec("repeat", {"tokens": 1024}),
        *(CheckSpec("concurrency", {"clients": clients}) for clients in CLIENTS),
        CheckSpec("cancel"),
        # Last, and the cheap first: servers are known to be slow for a while after a long prompt.
        *(CheckSpec("long", {"tokens": tokens}) for tokens in (SHORT_SIZES[0], *LONG_SIZES)),
    ),
)

GATEWAY = Suite(
    "gateway",
    "Gateway",
    "Through a gateway: the name that comes back, streams to their last event and in pieces, "
    "JSON and tool calls intact, no retry, fall-back or cached answer, and several at once.",
    (
        *checks("identity", "marker", "stream", "chat", "json", "tool", "tool_result"),
        CheckSpec("long", {"tokens": SHORT_SIZES[0]}),
        CheckSpec("concurrency", {"clients": 4}),
    ),
)
PROXY = Suite(
    "proxy",
    "Proxy",
    "Through a proxy: streams to their last event and not held back, a long prompt within its "
    "time limit, more at once than it lets in, and a slot that comes free after a cancel.",
    (
        *checks("identity", "marker", "stream", "chat", "tool"),
        *(CheckSpec("long", {"tokens": tokens}) for tokens in (SHORT_SIZES[0], LONG_SIZES[0])),
        *(CheckSpec("concurrency", {"clients": clients}) for clients in (4, 8)),
        CheckSpec("cancel"),
    ),
)

DEFAULT_SUITES = (
    SMOKE,
    CONTRACT,
    LONG_CONTEXT,
    MEMORY,
    CONCURRENT,
    POOLING,
    RERANKING,
    FULL,
    GATEWAY,
    PROXY,
)
