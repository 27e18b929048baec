"""What a gate is, and the gates that each role is shipped with. Pure data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

SHIPPED_BY = "shipped with Cleanpass"
SLOTS = "slots"  # as a number of clients: as many as the revision has
MONTH_DAYS = 30
QUARTER_DAYS = 90
SIZES = {8192: "8K", 32768: "32K", 65536: "65K", 100000: "100K", 131072: "131K"}


class GateKind(StrEnum):
    IDENTITY = "identity"  # the real model behind the name, before and after a clean run
    CHECK = "check"  # a check that passed in a clean run
    MEMORY = "memory"  # a check whose run had its memory observed, within every guard
    CAMPAIGN = "campaign"  # a canary, gate or soak that passed, never a rehearsal
    TRAFFIC = "traffic"  # what a proxy reported of real requests within the last days


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition. `params` are the least that the check was asked with (tokens, clients)."""

    key: str
    title: str
    kind: str = GateKind.CHECK
    layer: str = "direct"
    check: str = ""
    campaign: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    min_count: int = 1
    freshness_days: int = MONTH_DAYS
    ttft_max_ms: float | None = None
    decode_min_tps: float | None = None
    may_waive: bool = False
    counts: bool = True  # False: shown as a trial, and in nobody's way

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Gate:
        return cls(**stored)


IDENTITY = Gate("identity", "Identity verified", GateKind.IDENTITY)
STREAM = Gate("stream", "Stream completes", check="stream")
MARKER = Gate("marker", "Marker without a limit", check="marker", min_count=3)
JSON = Gate("json", "JSON and schema", check="schema", may_waive=True)
TOOL = Gate("tool", "Tool call", check="tool")
TOOL_RESULT = Gate("tool-result", "Tool result is used", check="tool_result")
REPEAT = Gate("repeat", "Exact repeat, recorded apart", check="repeat", may_waive=True)
SLOT_CAPACITY = Gate(
    "slots", "Every slot at one moment", check="concurrency", params={"clients": SLOTS}
)
MEMORY = Gate("memory", "Memory within its guards", GateKind.MEMORY, check="growth")
GATEWAY = Gate("gateway", "Gateway passes streams on", layer="gateway", check="stream")
GATEWAY_TOOL = Gate(
    "gateway-tool", "Gateway leaves tool calls intact", layer="gateway", check="tool"
)
PROXY_QUEUE = Gate(
    "proxy-queue", "Proxy queues what is too much", layer="proxy", check="concurrency",
    params={"clients": SLOTS},
)  # fmt: skip
CANARY = Gate(
    "canary", "Canary of 2 h", GateKind.CAMPAIGN, campaign="canary", freshness_days=MONTH_DAYS
)
COMPLETED = Gate(
    "completed", "24 h of completed requests", GateKind.CAMPAIGN, campaign="gate",
    freshness_days=QUARTER_DAYS,
)  # fmt: skip
SOAK = Gate(
    "soak", "Soak of 7 days", GateKind.CAMPAIGN, campaign="soak", freshness_days=QUARTER_DAYS
)
# Reported by somebody else's program, so whether it may count is for each lab to decide.
TRAFFIC = Gate(
    "traffic", "Real traffic completes", GateKind.TRAFFIC, layer="proxy", min_count=1000,
    freshness_days=7, counts=False,
)  # fmt: skip
TIME = (CANARY, COMPLETED, SOAK, TRAFFIC)


def fresh(tokens: int) -> Gate:
    return Gate(
        f"fresh-{tokens}", f"{SIZES[tokens]} fresh", check="long", params={"tokens": tokens}
    )


LONG = tuple(fresh(tokens) for tokens in SIZES)


def pooling(check: str, title: str) -> tuple[Gate, ...]:
    load = Gate(f"{check}-load", f"{title} at once", check=check, params={"clients": 4})
    return (
        IDENTITY,
        Gate(check, title, check=check),
        load,
        Gate(f"{check}-gateway", f"{title} through the gateway", layer="gateway", check=check),
        Gate(
            f"{check}-proxy", f"{title} through the proxy", layer="proxy", check=check,
            params={"clients": 4},
        ),
        *TIME,
    )  # fmt: skip


SHIPPED: dict[str, tuple[Gate, ...]] = {
    "agent_route": (
        IDENTITY, STREAM, MARKER, JSON, TOOL, *LONG, REPEAT, SLOT_CAPACITY, MEMORY,
        GATEWAY, GATEWAY_TOOL, PROXY_QUEUE, *TIME,
    ),
    "tool_coding": (
        IDENTITY, STREAM, MARKER, JSON, TOOL, TOOL_RESULT, *LONG, REPEAT, SLOT_CAPACITY, MEMORY,
        GATEWAY, GATEWAY_TOOL, PROXY_QUEUE, *TIME,
    ),
    "specialist": (
        IDENTITY, STREAM, MARKER, *LONG, REPEAT, SLOT_CAPACITY, MEMORY, GATEWAY, PROXY_QUEUE,
        *TIME,
    ),
    "embedding_pooling": pooling("embeddings", "Embeddings"),
    "rerank_pooling": pooling("rerank", "Rerank"),
}  # fmt: skip
