"""Prometheus text, as far as the runtimes' `/metrics` need it."""

from __future__ import annotations

import math
import re

LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{[^}]*\})?\s+(\S+)")


def read_metrics(text: str) -> dict[str, float]:
    """Value by metric name; series of one name (labels) are added up. Nonsense is left out."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        try:
            value = float(match[2])
        except ValueError:
            continue
        if math.isfinite(value):
            found[match[1]] = found.get(match[1], 0.0) + value
    return found
