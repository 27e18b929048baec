"""What a sweep's figures support, and what they do not."""

from __future__ import annotations

import random
from typing import Any

import pytest

from runs.statistics import difference_interval, median_interval
from runs.sweeps.reading.charts import charts_of
from runs.sweeps.reading.findings import regressions, verdict
from runs.sweeps.reading.places import CellFact, Contract, Place, efficiency, read

FRESH = Contract(32768, "fresh")


def cell(slots: int, clients: int = 4, **changes: Any) -> CellFact:
    """A clean cell: TTFT 10 s, 40 tok/s together, 20 GiB."""
    told = {"n": clients, "mean": 10_000.0, "p50": 10_000.0, "p95": 11_000.0, "max": 12_000.0}
    figures = {
        "ttft_ms": told,
        "completed": clients,
        "asked": clients,
        "aggregate_tps": 40.0,
        "per_request_tps": 10.0,
        "peak_rss_bytes": 20 * 2**30,
        "client_limited": False,
        **changes.pop("figures", {}),
    }
    facts = {"state": "done", "outcome": "clean_pass", "figures": figures, **changes}
    return CellFact(slots, clients, 32768, facts.pop("cache", "fresh"), **facts)


def scaled(slots: int, *, ttft: float, tps: float, gib: float = 20, clients: int = 4) -> CellFact:
    told = {"n": clients, "mean": ttft, "p50": ttft, "p95": ttft, "max": ttft}
    return cell(
        slots,
        clients,
        figures={"ttft_ms": told, "aggregate_tps": tps, "peak_rss_bytes": gib * 2**30},
    )


def places(*cells: CellFact) -> list[Place]:
    return read(cells)[FRESH]


def test_fresh_and_repeat_are_never_one_group() -> None:
    groups = read([cell(1), cell(1, cache="repeat"), cell(2)])
    assert [contract.words for contract in groups] == [
        "32,768 tokens, fresh", "32,768 tokens, exact repeat",
    ]  # fmt: skip
    assert [place.runtime_parallel for place in groups[FRESH]] == [1, 2]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"figures": {"client_limited": True}}, "client-limited"),
        ({"state": "skipped", "reason": "too much memory"}, "skipped: too much memory"),
        ({"outcome": "degraded", "failure_class": "buffered_stream"}, "degraded: buffered stream"),
        ({"outcome": "fail", "failure_class": "memory_guard"}, "fail: memory guard"),
    ],
)
def test_what_does_not_count_is_in_no_average_and_is_named(
    changes: dict[str, Any], why: str
) -> None:
    slow = cell(2, figures={"aggregate_tps": 1.0, **changes.pop("figures", {})}, **changes)
    [place] = places(cell(2), slow)
    assert place.values["aggregate_tps"] == [40.0]
    assert len(place.left_out) == 1
    assert why in place.left_out[0]


def test_what_did_not_complete_lowers_completion_although_it_is_in_no_average() -> None:
    broken = cell(2, figures={"completed": 1}, outcome="fail", failure_class="http_5xx")
    [place] = places(cell(2), broken)
    assert (place.completed, place.asked) == (5, 8)
    assert place.completion == 0.625


def test_the_sentence_says_what_the_figures_support() -> None:
    told = verdict(
        FRESH, places(scaled(2, ttft=10000, tps=40), scaled(8, ttft=8800, tps=60, gib=61))
    )
    assert told == (
        "p8 completes 4 of 4 at 32,768 tokens, fresh with 4 clients; TTFT 12 % better than p2; "
        "throughput 50 % better than p2; peak memory +41.00 GiB. Single measurements: what is "
        "smaller than 5 % is not told apart."
    )


def test_a_small_difference_of_single_measurements_is_no_finding() -> None:
    told = verdict(FRESH, places(scaled(1, ttft=10000, tps=40), scaled(2, ttft=9800, tps=41)))
    assert "TTFT no different from p1's beyond noise" in told
    assert "throughput no different" in told


def test_a_noisy_difference_is_none_and_a_steady_one_is() -> None:
    draw = random.Random(3)
    noisy = [scaled(1, ttft=10000 + draw.gauss(0, 3000), tps=40) for _ in range(5)]
    noisy += [scaled(2, ttft=10500 + draw.gauss(0, 3000), tps=40) for _ in range(5)]
    assert "TTFT no different" in verdict(FRESH, places(*noisy))
    steady = [scaled(1, ttft=10000 + n, tps=40) for n in range(5)]
    steady += [scaled(2, ttft=10300 + n, tps=40) for n in range(5)]
    told = verdict(FRESH, places(*steady))
    assert "TTFT 3 % worse than p1" in told
    assert told.endswith("Medians of 5 or more repeats with 95 % bootstrap intervals.")


def test_more_slots_that_only_cost_are_a_regression() -> None:
    found = regressions(places(scaled(1, ttft=215_100, tps=40), scaled(2, ttft=323_300, tps=40)))
    assert [one.place.runtime_parallel for one in found] == [2]
    assert "throughput +0 %, TTFT +50 %" in found[0].sentence
    paid = places(scaled(1, ttft=10000, tps=40), scaled(2, ttft=15000, tps=70))
    assert regressions(paid) == [], "worse TTFT may be the price of throughput"
    better = places(scaled(1, ttft=10000, tps=40), scaled(2, ttft=8000, tps=30))
    assert regressions(better) == []


def test_scaling_is_against_p1_at_as_many_clients() -> None:
    here = places(scaled(1, ttft=1, tps=40), scaled(4, ttft=1, tps=120))
    assert efficiency(here, here[1]) == 0.75
    alone = places(scaled(4, ttft=1, tps=120))
    assert efficiency(alone, alone[0]) is None


def test_charts_keep_a_single_point_single_and_draw_one_line_for_each_other_value() -> None:
    here = places(*(cell(slots, clients) for slots in (1, 2) for clients in (1, 4)))
    charts = {chart.key: chart for chart in charts_of(FRESH, here, by="parallel", csv={})}
    assert list(charts) == ["ttft", "throughput", "completion", "memory"]
    first = charts["ttft"].figure["data"]
    assert [trace["name"] for trace in first[:2]] == ["1 clients", "4 clients"]
    assert all(trace.get("error_y") in (None, {}) for trace in first)
    assert charts["completion"].sentence == "Every request completed."
    by_clients = charts_of(FRESH, here, by="clients", csv={})[0].figure["data"]
    assert [trace["name"] for trace in by_clients[:2]] == ["p1", "p2"]


def test_an_interval_needs_three_values_and_is_the_same_every_time() -> None:
    assert median_interval([5.0], seed=1).low is None
    assert median_interval([5.0, 6.0], seed=1).low is None
    found = median_interval([1.0, 2.0, 3.0, 4.0, 100.0], seed=1)
    assert found == median_interval([1.0, 2.0, 3.0, 4.0, 100.0], seed=1)
    assert found.low is not None and found.high is not None
    assert found.low <= found.mid == 3.0 <= found.high
    with pytest.raises(ValueError, match="nothing"):
        median_interval([], seed=1)
    same = difference_interval([1.0, 2.0, 3.0, 4.0], [1.1, 2.1, 2.9, 4.0], seed=1)
    assert same.is_real is False
    assert difference_interval([1.0], [2.0], seed=1).is_real is None
