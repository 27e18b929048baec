"""Counts on a logarithmic scale: percentiles of a million values from a few hundred numbers.

Neighbouring buckets differ by 2 %, so a percentile read from them is true to within 1 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

STEP = math.log(1.02)
LEAST_MS = 0.01  # everything quicker is told as this

Counts = dict[str, int]  # by bucket number, as text: JSON has no other keys


def bucket(value_ms: float) -> str:
    return str(round(math.log(max(value_ms, LEAST_MS)) / STEP))


def add(counts: Counts, values_ms: Iterable[float]) -> Counts:
    """The counts with these values as well."""
    total = dict(counts)
    for value_ms in values_ms:
        key = bucket(value_ms)
        total[key] = total.get(key, 0) + 1
    return total


def merge(many: Iterable[Mapping[str, int]]) -> Counts:
    total: Counts = {}
    for counts in many:
        for key, n in counts.items():
            total[key] = total.get(key, 0) + n
    return total


def percentile(counts: Mapping[str, int], share: float) -> float | None:
    """The value in ms that `share` (0 to 1) of all are not above, or None without any."""
    rank = math.ceil(share * sum(counts.values()))
    seen = 0
    for number in sorted(int(key) for key in counts):
        seen += counts[str(number)]
        if seen >= rank:
            return math.exp(number * STEP)
    return None
