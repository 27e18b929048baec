"""Guards: each limit, what is not known, and a server that was replaced."""

from __future__ import annotations

import pytest

from runs.engine.guards import GIB, GROWTH_WINDOW_S, Guard, Limits, ProcessWatch, Trip, largest

MACHINE = 512 * GIB


def sample(t_s: float = 0.0, **figures: float | str | None) -> dict[str, object]:
    return {"t_ms": t_s * 1000, "system_total_bytes": MACHINE, **figures}


def only(trip: Trip | None) -> Trip:
    assert trip is not None
    return trip


def test_it_trips_on_the_process_limit_and_keeps_the_sample() -> None:
    guard = Guard(Limits(process_bytes=10 * GIB, origin="the budget of its configuration"))
    assert guard.look(sample(rss_bytes=10 * GIB)) is None
    trip = only(guard.look(sample(1, rss_bytes=11 * GIB, pid=7)))
    assert (trip.limit, trip.seen, trip.allowed) == ("process", 11 * GIB, 10 * GIB)
    assert trip.sample["pid"] == 7 and trip.sample["t_ms"] == 1000
    assert trip.sentence == (
        "The server's RSS reached 11 GiB; the guard allows 10 GiB "
        "(the budget of its configuration)."
    )
    assert trip.finding().failure_class == "memory_guard"


def test_it_takes_the_largest_figure_since_rss_misses_metal_memory() -> None:
    """ml-explore/mlx#3896."""
    seen = sample(rss_bytes=round(4.3e9), footprint_bytes=round(110e9))
    assert largest(seen) == ("footprint_bytes", round(110e9))
    trip = only(Guard(Limits(process_bytes=round(100e9))).look(seen))
    assert "physical footprint" in trip.sentence


def test_it_stays_calm_while_mapped_weights_swing_below_the_limit() -> None:
    """ggml-org/llama.cpp#8678: resident 8, 56, then 8 GB."""
    guard = Guard(Limits(process_bytes=round(60e9)))
    swings = [sample(i * 0.15, rss_bytes=round(gb * 1e9)) for i, gb in enumerate((8, 56, 8))]
    assert [guard.look(s) for s in swings] == [None, None, None]


def test_it_never_takes_a_missing_figure_for_zero_or_for_safe() -> None:
    guard = Guard(Limits(process_bytes=1, available_floor_bytes=10))
    assert guard.look(sample(rss_bytes=None, system_available_bytes=None)) is None
    assert only(guard.look(sample(rss_bytes=2))).limit == "process"


def test_it_tells_an_unreadable_process_from_one_that_is_elsewhere() -> None:
    """giampaolo/psutil#2885: access denied, or no answer for ever."""
    unread, elsewhere = Guard(Limits()), Guard(Limits())
    unread.look(sample(pid=100, rss_bytes=None, gap="hung"))
    elsewhere.look(sample(pid=None, rss_bytes=None, gap="another machine"))
    assert [f.failure_class for f in unread.findings()] == ["telemetry_gap"]
    assert elsewhere.findings() == []


def test_it_remembers_the_peak_and_not_the_last() -> None:
    guard = Guard(Limits())
    for gib in (8, 56, 8):
        guard.look(sample(rss_bytes=gib * GIB))
    assert (guard.figure, guard.peak_bytes) == ("rss_bytes", 56 * GIB)
    assert guard.findings() == []


def test_it_keeps_memory_free_for_the_system() -> None:
    guard = Guard(Limits(available_floor_bytes=8 * GIB))
    assert guard.look(sample(system_available_bytes=9 * GIB)) is None
    trip = only(guard.look(sample(system_available_bytes=5 * GIB)))
    assert trip.limit == "available" and "5 GiB" in trip.sentence


@pytest.mark.parametrize(("gib_per_s", "trips"), [(2.0, True), (0.5, False)])
def test_it_trips_on_growth_that_lasts(gib_per_s: float, trips: bool) -> None:
    guard = Guard(Limits(process_bytes=60 * GIB, growth_bytes_per_s=GIB))
    samples = [
        sample(t, rss_bytes=round((35 + gib_per_s * t) * GIB)) for t in range(int(GROWTH_WINDOW_S))
    ]
    tripped = [trip.limit for s in samples if (trip := guard.look(s))]
    assert (tripped[:1] == ["growth"]) is trips


def test_it_takes_fast_growth_far_below_the_limit_for_loading() -> None:
    guard = Guard(Limits(process_bytes=100 * GIB, growth_bytes_per_s=GIB))
    assert not any(guard.look(sample(t, rss_bytes=4 * t * GIB)) for t in range(12))


def test_it_does_not_trip_on_one_jump() -> None:
    guard = Guard(Limits(process_bytes=60 * GIB, growth_bytes_per_s=GIB))
    values = [40] * 20 + [44] * 20
    assert not any(guard.look(sample(t, rss_bytes=v * GIB)) for t, v in enumerate(values))


def test_it_has_defaults_from_the_size_of_the_machine() -> None:
    limits = Limits().resolved(MACHINE)
    assert limits.process_bytes == round(0.7 * MACHINE)
    assert limits.available_floor_bytes == round(0.05 * MACHINE)
    assert limits.growth_bytes_per_s == round(0.7 * MACHINE) // 60
    assert "70%" in limits.origin
    assert Limits().resolved(None) == Limits()


def test_it_notices_a_replaced_process_although_the_next_answer_is_fine() -> None:
    watch = ProcessWatch()
    for pid, started in ((10, 1.0), (10, 1.0), (11, 9.0)):
        watch.look({"pid": pid, "process_started_s": started})
    (finding,) = watch.findings()
    assert finding.failure_class == "process_restarted" and "10, then 11" in finding.explanation


def test_it_notices_the_same_number_with_another_start() -> None:
    watch = ProcessWatch()
    for started in (1.0, 2.0):
        watch.look({"pid": 10, "process_started_s": started})
    assert watch.findings()[0].failure_class == "process_restarted"


def test_it_calls_an_ended_process_a_crash_and_an_unseen_one_nothing() -> None:
    watch = ProcessWatch()
    watch.look({"pid": None, "process_started_s": None})
    assert watch.findings() == []
    watch.look({"pid": 10, "process_started_s": 1.0})
    assert watch.findings() == []
    watch.look({"pid": None, "process_started_s": None})
    assert watch.findings()[0].failure_class == "process_crash"
