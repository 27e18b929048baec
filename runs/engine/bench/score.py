"""A client's figures against the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from runs.engine.bench.truth import CHUNKS, Moments
from runs.engine.clock import ms_between


@dataclass(frozen=True, slots=True)
class Spread:
    """Absolute errors in ms."""

    median: float
    p99: float
    max: float

    @classmethod
    def of(cls, errors: list[float]) -> Spread:
        ordered = sorted(abs(error) for error in errors)
        return cls(_rank(ordered, 0.5), _rank(ordered, 0.99), ordered[-1])


@dataclass(frozen=True, slots=True)
class Score:
    """One client under one load."""

    client: str
    streams: int
    jitter: bool
    requests: int
    ttft_error_ms: Spread
    itl_error_ms: Spread
    open_share: float  # streams really open on the average, of those asked for
    cpu_s_per_1000_chunks: float
    peak_bytes: int


def score(
    client: str, streams: int, jitter: bool, report: dict[str, Any], log: dict[int, Moments]
) -> Score:
    """Raises ValueError when a client lost chunks: its times would be of something else."""
    ttft, itl = [], []
    for one in report["measured"]:
        if one["chunks"] != CHUNKS:
            raise ValueError(f"{client} saw {one['chunks']} of {CHUNKS} chunks")
        received_ns, handed = log[one["request"]]
        ttft.append(one["ttft_ms"] - ms_between(received_ns, handed[0]))
        true_span_ms = ms_between(handed[0], handed[-1])
        itl.append((one["last_ms"] - one["ttft_ms"] - true_span_ms) / (CHUNKS - 1))
    return Score(
        client,
        streams,
        jitter,
        len(ttft),
        Spread.of(ttft),
        Spread.of(itl),
        _open_share(list(log.values()), streams),
        report["cpu_s"] / (len(ttft) * CHUNKS) * 1000,
        report["peak_bytes"],
    )


def _open_share(log: list[Moments], streams: int) -> float:
    """From the first request to the last: while there were more to come for each that ended."""
    start = min(received_ns for received_ns, _ in log)
    end = max(received_ns for received_ns, _ in log)
    if end == start:
        return 1.0
    open_ns = sum(min(handed[-1], end) - received_ns for received_ns, handed in log)
    return open_ns / (end - start) / streams


def _rank(ordered: list[float], share: float) -> float:
    return ordered[math.ceil(share * len(ordered)) - 1]
