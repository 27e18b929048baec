"""Figures that a server reports beside its text: usage, timings, and its progress in a prompt."""

from __future__ import annotations

import math
import re
from typing import Any, TypeGuard

from runs.engine.reading.model import Reading

TIMING_KEYS = ("timings", "metrics", "mtplx_stats")
# Ollama's native counters; durations are in ns.
NATIVE_FIGURES = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)
PROGRESS_COMMENT = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})\s*$")


def read_figures(reading: Reading, value: dict[str, Any]) -> None:
    """Add what one object reports. Numbers that are not finite are passed over."""
    usage = value.get("usage")
    if isinstance(usage, dict) and usage:
        reading.usages.append(usage)
    for key in TIMING_KEYS:
        if isinstance(value.get(key), dict):
            reading.server.update(numbers(value[key]))
    progress = value.get("prompt_progress")
    if isinstance(progress, dict):
        _add_progress(reading, progress.get("processed"), progress.get("total"))
        reading.server.update(numbers({"cache_n": progress.get("cache")}))


def read_comment(reading: Reading, text: str) -> None:
    """A comment is alive, not progress; mlx_lm.server's tells `read/of` tokens of the prompt."""
    reading.comments += 1
    match = PROGRESS_COMMENT.search(text)
    if match:
        _add_progress(reading, int(match[1]), int(match[2]))


def read_native(reading: Reading, value: dict[str, Any]) -> None:
    """Ollama's counters, also under the names of the OpenAI protocol."""
    reading.server.update(numbers({key: value.get(key) for key in NATIVE_FIGURES}))
    prompt, completion = value.get("prompt_eval_count"), value.get("eval_count")
    if not isinstance(completion, int):
        return
    usage: dict[str, Any] = {"completion_tokens": completion}
    if isinstance(prompt, int):
        usage["prompt_tokens"] = prompt
        usage["total_tokens"] = prompt + completion
    reading.usages.append(usage)


def numbers(values: dict[str, Any]) -> dict[str, float]:
    """The finite numbers among untrusted values."""
    return {key: float(value) for key, value in values.items() if is_number(value)}


def is_number(value: object) -> TypeGuard[float]:
    """A finite number that fits into a float; a boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300 and math.isfinite(value)


def _add_progress(reading: Reading, done: object, total: object) -> None:
    if isinstance(done, int) and isinstance(total, int) and 0 <= done <= total and total:
        reading.progress.append((done, total))
