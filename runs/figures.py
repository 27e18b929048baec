"""A request's figures side by side: what we timed, and what the server said of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runs.models import RunRequest


@dataclass(frozen=True, slots=True)
class Figure:
    """`unit` decides how it is written; `missing` says why there is none."""

    title: str
    value: float | None
    unit: str
    missing: str = "not recorded"
    note: str = ""


TOO_FEW = "fewer than two token chunks"


def request_figures(request: RunRequest) -> list[Figure]:
    """Client-measured. Counts of tokens say where they come from."""
    t: dict[str, Any] = request.record["timeline"]
    no_content = "it said no content" if request.streamed else request.ttft_missing
    no_rate = (t.get("decode_tps_reason") or "not measured").replace("_", " ")
    return [
        Figure("TTFT", t.get("ttft_ms"), "ms", request.ttft_missing),
        Figure("First content", t.get("first_content_ms"), "ms", no_content),
        Figure("Total", t.get("end_ms"), "ms"),
        Figure("Mean ITL", t.get("itl_mean_ms"), "ms", TOO_FEW, "between token chunks"),
        Figure("ITL p99", t.get("itl_p99_ms"), "ms", TOO_FEW),
        Figure("Longest stall", t.get("longest_stall_ms"), "ms", TOO_FEW),
        Figure("TPOT", t.get("tpot_ms"), "ms", "needs two token chunks and a token count"),
        Figure("Decode rate", t.get("decode_tps"), "tok/s", no_rate),
        Figure(
            "Prompt rate",
            t.get("prompt_tps"),
            "tok/s",
            "needs a prompt token count and a first token",
            "upper-bounded estimate: prompt tokens / TTFT",
        ),
        Figure("Token chunks", t.get("token_chunks"), "", note="pieces of the stream, not tokens"),
    ]


def server_figures(request: RunRequest) -> list[Figure]:
    """As the server reported them, under its own names."""
    reported: dict[str, Any] = request.record.get("server") or {}
    return [
        Figure(name.replace("_", " "), value, _server_unit(name), "not a number")
        for name, value in sorted(reported.items())
        if value is None or isinstance(value, int | float)
    ]


def _server_unit(name: str) -> str:
    if name.endswith("_ms"):
        return "ms"
    return "tok/s" if name.endswith("per_second") else ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A fresh prompt beside its exact repeat: two columns, never one figure."""

    fresh: RunRequest
    repeat: RunRequest
    rows: list[tuple[Figure, Figure]]


def fresh_beside_repeat(request: RunRequest, twin: RunRequest | None) -> Pair | None:
    """None where the run holds no twin."""
    if twin is None:
        return None
    fresh, repeat = (request, twin) if request.cache == "fresh" else (twin, request)
    both = zip(_cache_figures(fresh), _cache_figures(repeat), strict=True)
    return Pair(fresh, repeat, list(both))


def _cache_figures(request: RunRequest) -> list[Figure]:
    """What a prompt cache changes."""
    timeline = request.record["timeline"]
    return [
        Figure("TTFT", request.ttft_ms, "ms", request.ttft_missing),
        Figure("Prompt rate", timeline.get("prompt_tps"), "tok/s", "not measured"),
        Figure("Prompt tokens", request.prompt_tokens, "", "not reported"),
        Figure("Cached tokens", request.cached_tokens, "", "not reported"),
        Figure("Total", request.end_ms, "ms"),
    ]
