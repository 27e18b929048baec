"""A sweep's cells as rows of a table; units are in the column names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runs.sweeps.models import SweepCell

SPREAD = ("n", "mean", "p50", "p95", "max")
PLAIN = (
    "completed", "asked", "aggregate_tps", "per_request_tps", "requests_per_s",
    "peak_rss_bytes", "retained_bytes", "concurrency_achieved", "client_limited",
)  # fmt: skip
COLUMNS = [
    "position", "runtime_parallel", "client_concurrency", "prompt_tokens", "cache", "repeat",
    "state", "outcome", "failure_class", "run", "prompt_tokens_counted",
    *("ttft_n" if name == "n" else f"ttft_{name}_ms" for name in SPREAD),
    *PLAIN, "skip_reason",
]  # fmt: skip


def rows(cells: Iterable[SweepCell]) -> Iterator[list[object]]:
    for cell in cells:
        figures = cell.figures
        ttft = figures.get("ttft_ms") or {}
        yield [
            cell.position, cell.runtime_parallel, cell.client_concurrency, cell.prompt_tokens,
            cell.cache, cell.repeat, cell.state, cell.outcome, cell.failure_class, cell.run_id,
            figures.get("prompt_tokens"),
            *(ttft.get(name) for name in SPREAD),
            *(figures.get(name) for name in PLAIN),
            cell.skip_reason,
        ]  # fmt: skip
