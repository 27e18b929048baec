"""Coverage, budget and stop rules, by a clock that the test holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.campaigns.standing import CycleFact, Standing, Terms, standing, would_fail_now

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WEEK_S = 7 * 86400
SOAK = Terms(WEEK_S, WEEK_S, cycle_s=600, failure_budget=5, max_drift_bytes=2**30)


def clean(number: int, *, rss_after_bytes: int | None = None) -> CycleFact:
    return CycleFact(
        number,
        outcome="clean_pass",
        requests=7,
        completed=7,
        rss_after_bytes=rss_after_bytes,
    )


def fails(number: int, failure_class: str = "http_5xx", outcome: str = "fail") -> CycleFact:
    return CycleFact(number, outcome=outcome, failure_class=failure_class, requests=7)


def after(cycles: list[CycleFact], terms: Terms = SOAK, *, s: float = WEEK_S) -> Standing:
    return standing(terms, started_at=START, cycles=cycles, now=START + timedelta(seconds=s))


def week(change: Callable[[int], CycleFact | None] = clean) -> list[CycleFact]:
    return [cycle for n in range(SOAK.slots) if (cycle := change(n)) is not None]


def test_a_whole_week_passes_and_not_one_second_earlier() -> None:
    whole = after(week())
    assert (whole.verdict, whole.coverage, whole.covered_s) == ("passed", 1.0, WEEK_S)
    assert whole.completed == 7 * 1008
    assert after(week()[:-1], s=WEEK_S - 1).verdict == ""


def test_a_forty_minute_gap_is_told_and_counts_against_the_coverage() -> None:
    seen = after(week(lambda n: None if 100 <= n < 104 else clean(n)))
    [gap] = seen.gaps
    assert (gap.took_s, gap.start) == (2400, START + timedelta(seconds=60000))
    assert seen.covered_s == WEEK_S - 2400
    assert seen.coverage == pytest.approx(1004 / 1008)
    assert seen.verdict == "passed", "1 % may be missing, and 40 min is not longer than an hour"


def test_a_gap_longer_than_an_hour_fails_whatever_the_coverage() -> None:
    seen = after(week(lambda n: None if 100 <= n < 107 else clean(n)))
    assert seen.verdict == "failed"
    assert "A gap of 70 min from 2026-03-02 04:40 UTC; 60 min" in seen.why


def test_coverage_that_cannot_be_reached_any_more_ends_it_before_its_time() -> None:
    cycles = [clean(n) for n in range(44) if n % 4]  # a machine that sleeps every 40 minutes
    seen = after(cycles, s=44 * 600)
    assert seen.verdict == "failed"
    assert "11 of 1008 cycles are missing, so coverage can reach 98.9% at most" in seen.why


@pytest.mark.parametrize("ours", ["interrupted", "cancelled", "probe_limit"])
def test_what_we_broke_off_is_a_gap_and_neither_a_pass_nor_a_failure(ours: str) -> None:
    seen = after([clean(0), fails(1, ours, "inconclusive"), clean(2)], s=1800)
    assert (seen.slots_covered, seen.cycles_failed, seen.gap_s) == (2, 0, 600)


def test_failures_in_a_row_end_it_and_scattered_ones_spend_the_budget() -> None:
    assert after([clean(0), fails(1), fails(2)], s=1800).verdict == ""
    in_a_row = after([clean(0), fails(1), fails(2), fails(3)], s=2400)
    assert (in_a_row.verdict, in_a_row.consecutive_failed) == ("failed", 3)
    scattered = [fails(n) if n % 3 == 0 else clean(n) for n in range(16)]
    spent = after(scattered, s=16 * 600)
    assert (spent.verdict, spent.budget_left) == ("failed", -1)
    assert spent.why == "6 cycles were no clean pass; the budget is 5."


def test_a_degraded_cycle_is_no_clean_pass() -> None:
    seen = after([fails(0, "buffered_stream", "degraded")], s=600)
    assert (seen.cycles_failed, seen.budget_left) == (1, 4)


def test_another_model_behind_the_name_ends_it_at_once() -> None:
    seen = after([clean(0), fails(1, "identity_mismatch")], s=1200)
    assert seen.verdict == "failed"
    assert seen.why.startswith("Cycle 1 met another model.")


def test_memory_drift_is_the_end_against_the_beginning_and_not_one_peak() -> None:
    flat = [clean(n, rss_after_bytes=2**30 + (2**33 if n == 50 else 0)) for n in range(100)]
    assert after(flat, s=60000).drift_bytes == 0
    rising = [clean(n, rss_after_bytes=2**30 + n * 2**24) for n in range(100)]
    seen = after(rising, s=60000)
    assert seen.verdict == "failed"
    assert seen.why == "Resident memory rose by 1,504 MiB; 1,024 MiB are allowed."
    assert after(rising[:9], s=5400).drift_bytes is None


def test_a_cycle_that_is_going_on_is_waited_for() -> None:
    last = SOAK.slots - 1
    cycles = [*week()[:-1], CycleFact(last, is_running=True)]
    assert after(cycles, s=WEEK_S + 30).verdict == ""
    assert after([*week()[:-1], fails(last)], s=WEEK_S + 30).verdict == "passed"


def test_a_long_cycle_covers_the_slots_in_which_it_was_still_measuring() -> None:
    long = CycleFact(1, through=3, outcome="clean_pass")
    seen = after([clean(0), long, clean(4)], s=3000)
    assert (seen.slots_covered, seen.gaps, seen.covered_s) == (5, (), 3000)
    broken = CycleFact(1, through=3, outcome="inconclusive", failure_class="interrupted")
    assert after([clean(0), broken, clean(4)], s=3000).gap_s == 1800


def test_too_few_completed_requests_fail_a_gate_at_its_end() -> None:
    terms = Terms(1200, 1200, cycle_s=600, min_completed=20)
    seen = after([clean(0), clean(1)], terms, s=1200)
    assert (seen.verdict, seen.why) == ("failed", "14 requests were completed; 20 are needed.")


def test_it_says_what_would_fail_it_next_the_nearest_first() -> None:
    seen = after([clean(0), fails(1)], s=1200)
    said = would_fail_now(SOAK, seen)
    assert said[0] == "Cycles in a row without a clean pass: 2 more."
    assert said[1] == "Cycles without a clean pass, whenever: 5 more."
    assert said[2] == "Cycles missed: 11 more (110 min without a record)."
    assert said[-1].endswith("at once.")


def test_a_shortened_one_is_a_rehearsal_by_its_terms() -> None:
    assert Terms(300, 7200, cycle_s=10).is_rehearsal
    assert not SOAK.is_rehearsal


cycles_of_any_kind = st.lists(
    st.builds(
        CycleFact,
        number=st.integers(0, 30),
        outcome=st.sampled_from(["", "clean_pass", "degraded", "fail", "inconclusive"]),
        failure_class=st.sampled_from(["", "http_5xx", "interrupted"]),
    ),
    unique_by=lambda cycle: cycle.number,
)


@given(cycles_of_any_kind, st.integers(0, 20000))
def test_covered_and_uncovered_time_never_exceed_what_passed(
    cycles: list[CycleFact], s: int
) -> None:
    terms = Terms(11000, 11000, cycle_s=600)
    seen = after([c for c in cycles if c.number * 600 <= s], terms, s=s)
    assert 0 <= seen.covered_s <= min(s + 600, 11000)
    assert seen.gap_s <= min(s, 11000)
    if seen.verdict == "passed":
        assert seen.covered_s + seen.gap_s == 11000
