"""Every check by key."""

from __future__ import annotations

from runs.engine.checks.base import Check
from runs.engine.checks.cancel import CANCEL
from runs.engine.checks.chat import CHAT, STREAM
from runs.engine.checks.concurrency import CONCURRENCY
from runs.engine.checks.embeddings import EMBEDDINGS
from runs.engine.checks.growth import GROWTH
from runs.engine.checks.identity import IDENTITY
from runs.engine.checks.long import LONG
from runs.engine.checks.marker import MARKER
from runs.engine.checks.repeat import REPEAT
from runs.engine.checks.rerank import RERANK
from runs.engine.checks.structured import JSON, SCHEMA
from runs.engine.checks.thinking import THINKING
from runs.engine.checks.tools import TOOL, TOOL_RESULT
from runs.engine.plan import Plan

CHECKS: dict[str, Check] = {
    check.key: check
    for check in (
        IDENTITY,
        MARKER,
        CHAT,
        STREAM,
        JSON,
        SCHEMA,
        TOOL,
        TOOL_RESULT,
        LONG,
        REPEAT,
        GROWTH,
        CONCURRENCY,
        CANCEL,
        THINKING,
        EMBEDDINGS,
        RERANK,
    )
}


def plan_requests(plan: Plan) -> int:
    """How many requests a plan will send to the model."""
    return sum(CHECKS[c.key].requests(c.params) for c in plan.checks if c.key in CHECKS)
