"""What one cell found, in one shape for pages, charts, sentences and the API.

Client-measured unless `origins` says otherwise. What was not measured is None, never 0.
"""

from __future__ import annotations

from typing import TypedDict


class Spread(TypedDict):
    """Of `n` completed requests of one cell, in ms."""

    n: int
    mean: float
    p50: float
    p95: float
    max: float


class CellFigures(TypedDict):
    """Stored on `SweepCell.figures`; empty ({}) for a cell without a run."""

    ttft_ms: Spread | None  # None for embeddings and rerank, which stream nothing
    end_ms: Spread | None
    completed: int
    asked: int
    aggregate_tps: float | None  # completion tokens of the cell / time that the group took
    per_request_tps: float | None  # median decode rate of its requests, where measurable
    requests_per_s: float | None  # completed requests / time that the group took
    errors: dict[str, int]  # requests that did not complete, by failure class
    peak_rss_bytes: int | None  # of the server's process tree while the cell ran
    retained_bytes: int | None  # after idle, less before
    prompt_tokens: int | None  # median, as the server counted them
    concurrency_achieved: int | None
    client_limited: bool  # we did not keep up: no evidence
    origins: dict[str, str]  # figure name -> catalog.models.Origin value
