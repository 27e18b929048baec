"""More requests at one moment: waiting is fair, losing what fewer requests had is not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from runs.engine.outcomes import Finding, Outcome
from runs.engine.records import RequestResult

WAITED_TOO_LONG = ("stalled_prefill", "stalled_decode", "incomplete_over_limit", "queue_stall")
# Of the best throughput of fewer clients; above it, it may be the noise of a busy machine.
KEPT_SHARE = 0.5

Levels = dict[int, list[RequestResult]]


def scaling_findings(results: Sequence[RequestResult]) -> list[Finding]:
    """Of each check that was done with several numbers of clients, at most one finding."""
    checks: dict[str, Levels] = defaultdict(lambda: defaultdict(list))
    for result in results:
        checks[result.check][result.client_concurrency].append(result)
    found = (_worse(levels) for levels in checks.values() if len(levels) > 1)
    return [finding for finding in found if finding is not None]


def _worse(levels: Levels) -> Finding | None:
    """The first level that timed out, or fell far below a smaller one that was fine."""
    best: tuple[float, int] | None = None  # tokens/s of all together, clients
    for clients in sorted(levels):
        group = levels[clients]
        late = [r for r in group if r.failure_class in WAITED_TOO_LONG]
        if best is not None and late:
            return _finding(
                group, f"{len(late)} of {clients} requests timed out; with {best[1]} none did."
            )
        rate = throughput_tps(group)
        if rate is None:
            continue
        if best is not None and rate < KEPT_SHARE * best[0]:
            return _finding(
                group,
                f"{clients} clients got {rate:.1f} tokens/s in all; {best[1]} got {best[0]:.1f}.",
            )
        best = max(best or (0.0, 0), (rate, clients))
    return None


def _finding(group: list[RequestResult], text: str) -> Finding:
    return Finding("parallel_regression", text, min(r.started_offset_ms for r in group))


def throughput_tps(group: list[RequestResult]) -> float | None:
    """Completion tokens of all, over the time from the first start to the last end; None unless
    every request was answered and counted."""
    counts = [r.tokens.completion for r in group if r.outcome is not Outcome.FAIL]
    ends = [r.started_offset_ms + r.timeline.end_ms for r in group if r.timeline.end_ms]
    if None in counts or not (len(counts) == len(ends) == len(group)):
        return None
    span_ms = max(ends) - min(r.started_offset_ms for r in group)
    return sum(filter(None, counts)) / span_ms * 1000 if span_ms > 0 else None
