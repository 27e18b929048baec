"""Series: stored in chunks, read thinned, rolled up as they age."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.memory.codec import MISSING, decode, encode
from runs.memory.keeping import MINUTE_MS, keep_in_order, roll_up
from runs.memory.models import SeriesChunk
from runs.memory.reading import read_series, series_names, thin, with_gaps
from runs.memory.tests.conftest import write
from runs.memory.writing import CHUNK_MS, SeriesWriter
from runs.models import Run, RunEvent, RunState

INT64 = st.integers(min_value=MISSING, max_value=2**63 - 1)


@given(st.lists(st.tuples(INT64, INT64), min_size=1, max_size=50))
def test_it_gives_back_any_whole_numbers(pairs: list[tuple[int, int]]) -> None:
    columns = np.array(pairs, np.int64).T
    assert np.array_equal(decode(encode(columns), 2), columns)


def test_it_packs_a_steady_series_to_a_fraction_of_its_size() -> None:
    times = np.arange(600, dtype=np.int64) * 1000
    values = np.full(600, 34_359_738_368, np.int64)
    assert len(encode(np.stack([times, values]))) < 200


def test_it_stores_one_row_per_series_and_ten_minutes(run: Run) -> None:
    times = np.arange(0.0, 2 * CHUNK_MS, 1000)
    write(run, "rss_bytes", times, times)
    assert SeriesChunk.objects.filter(run=run).count() == 2
    assert series_names(run.pk) == {"rss_bytes"}


def test_it_replaces_the_open_chunk_instead_of_doubling_it(run: Run) -> None:
    writer = SeriesWriter(run.pk)
    for second in range(5):
        writer.add([(second * 1000.0, {"rss_bytes": second})])
        writer.save(now=True)
    series = read_series(run.pk, "rss_bytes")
    assert series.values.tolist() == [0, 1, 2, 3, 4]
    assert SeriesChunk.objects.count() == 1


def test_it_keeps_only_metrics_it_knows_and_only_numbers(run: Run) -> None:
    writer = SeriesWriter(run.pk)
    writer.add([(0.0, {"rss_bytes": "many", "made_up": 3, "slots_busy": 2, "processes": True})])
    writer.save(now=True)
    assert series_names(run.pk) == {"slots_busy"}
    assert read_series(run.pk, "slots_busy").values.tolist() == [2]


def test_it_tells_a_gap_from_a_figure_that_nobody_looked_at(run: Run) -> None:
    writer = SeriesWriter(run.pk)
    writer.add([(0.0, {"rss_bytes": 5, "pss_bytes": 4, "footprint_bytes": None, "gap": ""})])
    writer.add([(500.0, {"rss_bytes": 5, "pss_bytes": None, "footprint_bytes": None, "gap": ""})])
    writer.add([(900.0, {"rss_bytes": None, "footprint_bytes": None, "gap": "It has ended."})])
    writer.save(now=True)
    assert series_names(run.pk) == {"rss_bytes", "pss_bytes"}
    assert np.isnan(read_series(run.pk, "rss_bytes").values).tolist() == [False, False, True]
    assert read_series(run.pk, "pss_bytes").times_ms[0] == 0


def test_it_keeps_fractions_of_ratios(run: Run) -> None:
    write(run, "kv_usage_ratio", np.array([0.0]), np.array([0.123456]))
    assert read_series(run.pk, "kv_usage_ratio").values[0] == pytest.approx(0.123456)


def test_it_reads_a_missing_value_as_a_gap_never_as_zero(run: Run) -> None:
    write(run, "rss_bytes", np.array([0.0, 1000, 2000]), np.array([5.0, np.nan, 7.0]))
    values = read_series(run.pk, "rss_bytes").values
    assert np.isnan(values[1])
    assert values[0] == 5 and values[2] == 7


def test_it_shows_a_pause_as_a_gap_and_a_change_of_rate_as_none() -> None:
    fast, slow = np.arange(0.0, 10_000, 500), np.arange(10_000.0, 110_000, 10_000)
    times = np.concatenate([fast, slow])
    assert not np.isnan(with_gaps(times, np.ones(len(times)))[1]).any()
    paused = np.concatenate([fast, fast + 60_000])
    assert np.isnan(with_gaps(paused, np.ones(len(paused)))[1]).sum() == 1


def test_it_reads_only_the_stretch_that_is_asked_for(run: Run) -> None:
    times = np.arange(0.0, 3 * CHUNK_MS, 1000)
    write(run, "rss_bytes", times, times)
    part = read_series(run.pk, "rss_bytes", from_ms=700_000, to_ms=705_000, points=None)
    assert part.times_ms.tolist() == [700_000, 701_000, 702_000, 703_000, 704_000, 705_000]


@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.none(), st.integers(-1000, 1000)), min_size=1, max_size=400),
    st.integers(10, 100),
)
def test_it_thins_without_losing_extremes_gaps_or_order(
    samples: list[int | None], points: int
) -> None:
    values = np.array([np.nan if v is None else v for v in samples], float)
    times = np.arange(len(values), dtype=float)
    thin_times, thin_values = thin(times, values, points)
    assert len(thin_times) <= max(points, 3)
    assert np.all(np.diff(thin_times) > 0)
    seen, kept = values[~np.isnan(values)], thin_values[~np.isnan(thin_values)]
    assert len(seen) == 0 or (kept.max() == seen.max() and kept.min() == seen.min())
    assert np.isnan(thin_values).any() == np.isnan(values).any()
    assert np.array_equal(thin_values, values[thin_times.astype(int)], equal_nan=True)


def test_it_reads_a_soak_of_seven_days_in_few_points_with_its_one_peak(run: Run) -> None:
    times = np.arange(0.0, 7 * 86_400_000, 1000)
    values = np.full(len(times), 30.0e9)
    values[400_000] = 90.0e9
    write(run, "rss_bytes", times, values)
    series = read_series(run.pk, "rss_bytes")
    assert series.samples == 604_800
    assert len(series.times_ms) < 5_000
    assert np.nanmax(series.values) == 90.0e9


def test_it_rolls_up_to_minutes_and_keeps_peak_lowest_and_gap(run: Run) -> None:
    times = np.arange(0.0, 10 * MINUTE_MS, 1000)
    values = np.full(len(times), 100.0)
    values[70], values[75], values[120:180] = 900.0, 7.0, np.nan
    write(run, "rss_bytes", times, values)
    roll_up(run.pk, MINUTE_MS)
    series = read_series(run.pk, "rss_bytes")
    assert series.step_ms == MINUTE_MS
    assert np.nanmax(series.values) == 900 and np.nanmin(series.values) == 7
    assert np.isnan(series.values).sum() == 2  # the missing minute, lowest and highest
    chunk = SeriesChunk.objects.get()
    _, low, mean, high, n = decode(chunk.data, 5)
    assert (low[1], mean[1], high[1], n[1]) == (7, round((58 * 100 + 907) / 60), 900, 60)
    assert n[2] == 0 and mean[2] == MISSING


def test_it_rolls_minutes_up_further_with_the_right_weights(run: Run) -> None:
    times = np.concatenate([np.arange(0.0, 60_000, 1000), [60_000.0]])
    write(run, "rss_bytes", times, np.array([10.0] * 60 + [71.0]))
    roll_up(run.pk, MINUTE_MS)
    roll_up(run.pk, 10 * MINUTE_MS)
    columns = decode(SeriesChunk.objects.get().data, 5)
    assert columns[:, 0].tolist() == [0, 10, 11, 71, 61]


def test_it_keeps_order_by_age_and_leaves_young_and_running_runs_alone(run: Run) -> None:
    times = np.arange(0.0, 2 * MINUTE_MS, 1000)
    write(run, "rss_bytes", times, times)
    RunEvent.objects.create(run=run, seq=1, t_ms=0, kind="memory.sample", payload={})
    RunEvent.objects.create(run=run, seq=2, t_ms=0, kind="request.progress", payload={})
    RunEvent.objects.create(run=run, seq=3, t_ms=0, kind="note", payload={})
    later = timezone.now() + timedelta(days=20)
    assert keep_in_order(later) == 0, "it runs still"
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, finished_at=timezone.now())
    assert keep_in_order(timezone.now() + timedelta(days=3)) == 0
    assert RunEvent.objects.count() == 3
    assert keep_in_order(later) == 1
    assert SeriesChunk.objects.get().step_ms == MINUTE_MS
    assert list(RunEvent.objects.values_list("kind", flat=True)) == ["note"]
    assert keep_in_order(later) == 0, "nothing is left to do"
    assert keep_in_order(timezone.now() + timedelta(days=200)) == 1
    assert SeriesChunk.objects.get().step_ms == 10 * MINUTE_MS
