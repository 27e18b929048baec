"""The series that are kept of a run: names, units, and which one is *the* figure of a process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SAMPLE_KINDS = ("memory.sample", "telemetry.sample")


@dataclass(frozen=True, slots=True)
class Metric:
    """`scale` keeps fractions in whole numbers: a ratio is stored in millionths."""

    key: str
    title: str
    unit: str
    origin: str = "client"
    scale: int = 1


def _bytes(key: str, title: str) -> Metric:
    return Metric(key, title, "bytes")


def _server(key: str, title: str, unit: str, scale: int = 1) -> Metric:
    return Metric(key, title, unit, "server", scale)


METRICS = {
    metric.key: metric
    for metric in (
        _bytes("footprint_bytes", "Physical footprint"),
        _bytes("pss_bytes", "PSS"),
        _bytes("uss_bytes", "USS"),
        _bytes("rss_bytes", "RSS"),
        Metric("processes", "Processes of the server", ""),
        _bytes("system_available_bytes", "System available"),
        _bytes("system_used_bytes", "System used"),
        _bytes("system_wired_bytes", "System wired"),
        _bytes("system_compressed_bytes", "System compressed"),
        _bytes("swap_used_bytes", "Swap used"),
        Metric("pressure_level", "Memory pressure", "level"),
        _server("slots_busy", "Slots busy", "slots"),
        _server("requests_waiting", "Requests waiting", "requests"),
        _server("kv_usage_ratio", "KV cache in use", "share", 1_000_000),
        _server("server_memory_bytes", "Memory as the server reports it", "bytes"),
        _server("prompt_tokens_total", "Prompt tokens, cumulative", "tokens"),
        _server("cached_tokens_total", "Cached prompt tokens, cumulative", "tokens"),
        _server("completion_tokens_total", "Completion tokens, cumulative", "tokens"),
    )
}

# What says most about a process, best first. The footprint (macOS) counts Metal memory, which
# RSS misses. USS and PSS are sampled rarely, as they cost time: beside it, never instead.
FIGURES = ("footprint_bytes", "rss_bytes")
EXPLAINED = {
    "footprint_bytes": "physical footprint of the server's processes: Metal memory included, "
    "clean mapped weights not",
    "rss_bytes": "resident memory (RSS) of the server's processes, mapped weights included",
}


def best_figure(present: Iterable[str]) -> str | None:
    """The one figure by which a run's memory is told; None when the process was not seen."""
    names = set(present)
    return next((figure for figure in FIGURES if figure in names), None)
