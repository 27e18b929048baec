"""The time line never loses a red one; a change of level is found and chance is not."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from runs.campaigns.reading.change import change_point
from runs.campaigns.reading.charts import Point, charts_of
from runs.campaigns.reading.timeline import marks, slot_states
from runs.campaigns.standing import CycleFact, Terms

START = datetime(2026, 3, 1, tzinfo=UTC)
SOAK = Terms(604800, 604800, cycle_s=600)


def clean(number: int) -> CycleFact:
    return CycleFact(number, outcome="clean_pass")


def test_one_red_cycle_and_one_gap_of_a_week_are_seen_in_few_marks() -> None:
    cycles = [clean(n) for n in range(1008) if n not in (500, 700)]
    cycles.append(CycleFact(500, outcome="fail", failure_class="http_5xx"))
    states = slot_states(SOAK, cycles, 604800)
    found = marks(SOAK, START, states, places=50)
    assert len(found) <= 50
    assert [mark.state for mark in found].count("fail") == 1
    assert [mark.state for mark in found].count("gap") == 1
    red = next(mark for mark in found if mark.state == "fail")
    assert red.first <= 500 <= red.last
    assert red.words == f"1 failed, {red.last - red.first} clean"
    assert sum(sum(mark.counts.values()) for mark in found) == 1008


def test_a_closer_look_shows_every_slot_with_its_time() -> None:
    states = slot_states(SOAK, [clean(n) for n in range(10)], 6000)
    found = marks(SOAK, START, states, first=5, last=14)
    assert [mark.state for mark in found] == ["clean"] * 5 + ["open"] * 5
    assert found[0].start == START + timedelta(seconds=3000)


def test_a_long_cycle_fills_the_slots_it_measured_in() -> None:
    long = CycleFact(0, through=2, outcome="clean_pass")
    assert slot_states(SOAK, [long, clean(3)], 2400)[:5] == ["clean"] * 4 + ["open"]


def test_a_change_of_level_is_found_where_it_was() -> None:
    draw = random.Random(1)
    values = [100 + draw.gauss(0, 5) for _ in range(60)] + [
        130 + draw.gauss(0, 5) for _ in range(40)
    ]
    change = change_point(values)
    assert change is not None
    assert abs(change.index - 60) <= 2
    assert change.percent is not None and 25 < change.percent < 35


def test_chance_and_single_spikes_are_no_change() -> None:
    draw = random.Random(2)
    assert change_point([100 + draw.gauss(0, 5) for _ in range(200)]) is None
    assert change_point([100.0] * 50 + [9000.0] + [100.0] * 50) is None
    assert change_point([1.0, 2.0, 3.0]) is None


def point(number: int, *, ttft: float = 100.0, started: float = 1.0) -> Point:
    return Point(
        number=number, at=START + timedelta(minutes=number), outcome="clean_pass",
        failure_class="", ttft_ms=ttft, ttft_max_ms=ttft * 2, decode_tps=40.0,
        rss_after_bytes=2**30, rss_peak_bytes=2**31, queued_max=0, server_started_at=started,
        run_id=number,
    )  # fmt: skip


def test_the_charts_tell_changes_restarts_and_what_was_not_measured() -> None:
    seen = [point(n, ttft=100.0 + n % 3, started=1.0) for n in range(30)]
    seen += [point(n, ttft=200.0 + n % 3, started=99.0) for n in range(30, 60)]
    charts = {chart.key: chart for chart in charts_of(seen, {})}
    assert list(charts) == ["speed", "memory"], "nobody waited, so there is no queue to draw"
    assert charts["speed"].sentence.startswith("TTFT went from 101.0 to 201.0 ms (+99 %)")
    assert charts["memory"].sentence.endswith("1 restarts of the server.")
    assert charts_of([], {}) == []


def test_a_long_campaign_is_drawn_with_few_points_and_its_slowest() -> None:
    seen = [point(n) for n in range(20_000)]
    seen[12_345] = point(12_345, ttft=9999.0)
    [speed, *_] = charts_of(seen, {})
    drawn = speed.figure["data"][0]["y"]
    assert len(drawn) <= 1500
    assert max(drawn) == 9999.0
