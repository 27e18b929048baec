"""What a reported request counts as, by the same classes as our own. Pure.

HTTP 200 alone completes nothing: that takes a finish reason, the terminal event of a stream, at
least one token, and no error. What the proxy did not see it cannot prove, so it only lowers.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from runs.engine.failure_classes import FAILURE_CLASSES
from runs.engine.judge.errors import class_of_status
from runs.engine.outcomes import Outcome

CLIENT_CLOSED = 499  # nginx's own: the client went away before the answer ended
LIMITS = ("length", "max_tokens")


@dataclass(frozen=True, slots=True)
class Reported:
    """One line, checked. Times in ms; None is what the proxy did not say."""

    id: str
    at: datetime
    route: str
    status: int | None
    streamed: bool
    done_seen: bool | None = None
    finish_reason: str = ""
    ttft_ms: float | None = None
    wall_ms: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    error: str = ""


def judge(told: Reported, *, is_pooling: bool = False) -> tuple[Outcome, str]:
    """(outcome, failure class); the class is empty for a clean pass.

    A pooling model (embeddings, rerank) writes no token and gives no finish reason.
    """
    name = failure_class(told, is_pooling=is_pooling)
    if not name:
        return Outcome.CLEAN_PASS, ""
    # A limit may have been the client's own wish, which the record does not tell.
    if name == "length_cut":
        return Outcome.INCONCLUSIVE, name
    return FAILURE_CLASSES[name].outcome, name


def failure_class(told: Reported, *, is_pooling: bool) -> str:
    """The first that holds, from what makes an answer impossible to what leaves it unproven."""
    if told.status is None:
        return "no_response"
    if told.status == CLIENT_CLOSED:
        return "cancelled"
    if not 200 <= told.status < 300:
        return class_of_status(told.status, told.error)
    if told.error or told.finish_reason == "error":
        return "error_in_stream"
    if is_pooling:
        return "" if told.prompt_tokens else "missing_usage"
    if told.completion_tokens == 0:
        return "empty_response"
    return ending(told)


def ending(told: Reported) -> str:
    """What is wrong with how a successful answer ended, or nothing."""
    if told.streamed and told.done_seen is False and not told.finish_reason:
        return "truncated_stream"
    if told.finish_reason in LIMITS:
        return "length_cut"
    if not told.finish_reason:
        return "missing_finish_reason"
    if told.streamed and not told.done_seen:
        return "missing_done"
    return "missing_usage" if told.completion_tokens is None else ""
