"""What a sweep's figures support in words, and never more than that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.statistics import Difference, difference_interval
from runs.sweeps.reading.places import SEED, Contract, Place

SAME_PERCENT = 5.0  # of single measurements, where nothing tells noise from a difference
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Regression:
    """More slots that bring no throughput but a worse TTFT (failure class
    `parallel_regression`)."""

    place: Place
    against: Place
    sentence: str


def compared(metric: str, before: Place, after: Place) -> Difference | None:
    """How much higher `after` is, in per cent; None where one has no value."""
    first, second = before.values.get(metric, []), after.values.get(metric, [])
    if not first or not second or not before.mid(metric):
        return None
    return difference_interval(first, second, seed=SEED)


def told(difference: Difference | None) -> int:
    """1 higher, -1 lower, 0 the same or unknown. Single measurements need a clear distance."""
    if difference is None:
        return 0
    is_real = difference.is_real
    if is_real is None:
        is_real = abs(difference.percent) > SAME_PERCENT
    if not is_real:
        return 0
    return 1 if difference.percent > 0 else -1


def regressions(places: Sequence[Place]) -> list[Regression]:
    """Each place against the next smaller runtime parallel at as many clients."""
    found = []
    for place in places:
        smaller = [
            one
            for one in places
            if one.client_concurrency == place.client_concurrency
            and (one.runtime_parallel or 0) < (place.runtime_parallel or 0)
        ]
        if not smaller:
            continue
        before = max(smaller, key=lambda one: one.runtime_parallel or 0)
        rate = compared("aggregate_tps", before, place)
        ttft = compared("ttft_p50_ms", before, place)
        if rate is not None and told(rate) <= 0 and told(ttft) == 1 and ttft is not None:
            said = (
                f"p{place.runtime_parallel} against p{before.runtime_parallel} at "
                f"{place.client_concurrency} clients: throughput {rate.percent:+.0f} %, TTFT "
                f"{ttft.percent:+.0f} %: more slots cost and bring nothing."
            )
            found.append(Regression(place, before, said))
    return found


def verdict(contract: Contract, places: Sequence[Place]) -> str:
    """One sentence on the most slots against the fewest, at the most clients that both had."""
    measured = [place for place in places if place.values]
    if not measured:
        return f"At {contract.words} nothing was measured that counts."
    clients = max(place.client_concurrency for place in measured)
    here = [place for place in measured if place.client_concurrency == clients]
    most = max(here, key=lambda place: place.runtime_parallel or 0)
    parts = [completes(contract, most)]
    fewest = min(here, key=lambda place: place.runtime_parallel or 0)
    if most is not fewest:
        parts += against(fewest, most)
    return f"{'; '.join(parts)}. {how_sure(here)}"


def completes(contract: Contract, place: Place) -> str:
    slots = f"p{place.runtime_parallel}" if place.runtime_parallel else "The server as it runs"
    return (
        f"{slots} completes {place.completed} of {place.asked} at {contract.words} with "
        f"{place.client_concurrency} client{'s' * (place.client_concurrency != 1)}"
    )


def against(before: Place, after: Place) -> list[str]:
    name = f"p{before.runtime_parallel}"
    parts = [
        said("TTFT", compared("ttft_p50_ms", before, after), name, better=-1),
        said("throughput", compared("aggregate_tps", before, after), name, better=1),
        memory_said(before, after),
    ]
    return [part for part in parts if part]


def said(title: str, difference: Difference | None, name: str, *, better: int) -> str:
    if difference is None:
        return ""
    way = told(difference)
    if not way:
        return f"{title} no different from {name}'s beyond noise"
    word = "better" if way == better else "worse"
    return f"{title} {abs(difference.percent):.0f} % {word} than {name}"


def memory_said(before: Place, after: Place) -> str:
    first, second = before.mid("peak_rss_bytes"), after.mid("peak_rss_bytes")
    if first is None or second is None:
        return ""
    return f"peak memory {(second - first) / GIB:+.2f} GiB"


def how_sure(places: Sequence[Place]) -> str:
    counts = [len(values) for place in places for values in place.values.values()]
    fewest = min(counts, default=0)
    if fewest <= 1:
        return "Single measurements: what is smaller than 5 % is not told apart."
    if fewest < 3:
        return f"Medians of {fewest} repeats: too few for an interval."
    return f"Medians of {fewest} or more repeats with 95 % bootstrap intervals."
