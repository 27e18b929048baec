"""What else went on beside a run: swap that grew, and other clients of the same server.

Either voids the run as `telemetry_gap`: degraded, never evidence. It is no fault of the server, so
none of its classes fits, and nothing was stopped, so it is not inconclusive: answers are right as
they are, but times and memory figures are not this server's work on our requests alone, and by how
much nobody can tell. That is the class of a measurement with a hole in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.engine.guards import said
from runs.engine.judge.errors import POOLING_KINDS
from runs.engine.outcomes import Finding
from runs.engine.records import Ending, RequestResult

Sample = Mapping[str, Any]

SWAP_GROWTH_BYTES = 256 * 1024**2  # below it, a machine that does other things besides may be
GRACE_MS = 5000.0  # how long ago what a look tells may have been
MOST_TEXTS = 8  # of one pooling request; some servers count each text
ENDED_BY_ITSELF = (Ending.COMPLETE, Ending.EOF)


class SwapWatch:
    """Follows the swap in use on this machine, in bytes, from `memory.sample` payloads."""

    def __init__(self) -> None:
        self.first_bytes: int | None = None
        self.peak_bytes: int | None = None  # what was swapped out and in again voids times too

    def look(self, sample: Sample) -> None:
        used = sample.get("swap_used_bytes")
        if used is None:
            return
        if self.first_bytes is None:
            self.first_bytes = used
        self.peak_bytes = max(self.peak_bytes or 0, used)

    @property
    def grown_bytes(self) -> int | None:
        """None where the system did not tell."""
        if self.first_bytes is None or self.peak_bytes is None:
            return None
        return self.peak_bytes - self.first_bytes

    def findings(self) -> list[Finding]:
        grown = self.grown_bytes
        if grown is None or grown <= SWAP_GROWTH_BYTES:
            return []
        text = (
            f"Swap in use on this machine grew by {said(grown)} during the run; "
            f"{said(SWAP_GROWTH_BYTES)} are allowed. It ran out of memory, and the times are "
            "those of its disk. Free memory and measure again."
        )
        return [Finding("telemetry_gap", text)]


@dataclass(frozen=True, slots=True)
class Look:
    """What a server told `t_ms` after the run began: requests at work or waiting, and ever."""

    t_ms: float
    busy: int | None
    total: float | None
    tokens: float | None = None  # that it ever generated


class ClientWatch:
    """Follows what a server counts, from `telemetry.sample` payloads, against what we sent."""

    def __init__(self) -> None:
        self._looks: list[Look] = []

    def look(self, sample: Sample) -> None:
        busy = sample.get("slots_busy")
        if busy is not None:
            busy += sample.get("requests_waiting") or 0
        tokens = sample.get("completion_tokens_total")
        self._looks.append(Look(sample["t_ms"], busy, sample.get("requests_total"), tokens))

    def findings(self, ours: Sequence[RequestResult], *, is_behind: bool = False) -> list[Finding]:
        """At most one; only what cannot have been ours counts. What an earlier run left behind
        may be at work until our first request. `is_behind`: requests went through a gateway or
        proxy, so that it is not sure that this server answered them."""
        if is_behind and (text := led_elsewhere(self._looks, ours)):
            return [Finding("identity_mismatch", text)]
        began_ms = min((result.started_offset_ms for result in ours), default=math.inf)
        before = [look for look in self._looks if look.t_ms < began_ms]
        since = self._looks[len(before) :]
        seen = at_work(since, ours) or in_total([*before[-1:], *since], ours)
        if not seen:
            return []
        text = f"Another client used the server during the run: {seen} Measure again alone."
        return [Finding("telemetry_gap", text)]


def led_elsewhere(looks: Sequence[Look], ours: Sequence[RequestResult]) -> str:
    """Tokens came through the gateway, and the server that should have made them made none."""
    told = [look for look in looks if look.tokens is not None]
    if len(told) < 2 or any(look.busy for look in looks):
        return ""
    first, last = told[0], told[-1]
    came = sum(
        result.tokens.completion or 0
        for result in ours
        if first.t_ms < result.started_offset_ms
        and result.started_offset_ms + (result.timeline.end_ms or 0.0) + GRACE_MS < last.t_ms
    )
    if not came or (last.tokens or 0) > (first.tokens or 0):
        return ""
    return (
        f"{came:,} tokens came through, but the server that was registered behind it counted none "
        "of them: the gateway or proxy leads to another one."
    )


def at_work(looks: Sequence[Look], ours: Sequence[RequestResult]) -> str:
    for look in looks:
        own = most_of_ours(ours, look.t_ms)
        if look.busy is not None and look.busy > own:
            return (
                f"{look.t_ms / 1000:,.1f} s after its start {look.busy} requests were at work or "
                f"waiting, of which at most {own} were ours."
            )
    return ""


def in_total(looks: Sequence[Look], ours: Sequence[RequestResult]) -> str:
    totals = [look.total for look in looks if look.total is not None]
    counted, own = totals[-1] - totals[0] if totals else 0, sum(map(weight, ours))
    if counted <= own:
        return ""
    return f"the server counted {counted:,.0f} requests, of which at most {own} were ours."


def most_of_ours(ours: Sequence[RequestResult], t_ms: float) -> int:
    """The most that we had at work at one moment of the last `GRACE_MS`."""
    from_ms = t_ms - GRACE_MS
    since = [r for r in ours if from_ms < r.started_offset_ms <= t_ms]
    near = [*since, *(r for r in ours if may_be_at_work(r, from_ms))]
    return max(
        sum(weight(r) for r in near if may_be_at_work(r, moment_ms))
        for moment_ms in (from_ms, *(r.started_offset_ms for r in since))
    )


def may_be_at_work(result: RequestResult, t_ms: float) -> bool:
    """Whether this request of ours was open then. The server may go on with one that we broke off
    for as long as it likes."""
    end_ms = result.started_offset_ms + (result.timeline.end_ms or 0.0)
    is_over = result.ending in ENDED_BY_ITSELF and t_ms > end_ms
    return result.started_offset_ms <= t_ms and not is_over


def weight(result: RequestResult) -> int:
    """As how many requests a server may count it."""
    return MOST_TEXTS if result.check in POOLING_KINDS else 1
