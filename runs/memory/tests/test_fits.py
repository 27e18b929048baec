"""Slopes against data whose slope is known, and what may not be concluded."""

from __future__ import annotations

import numpy as np
import pytest

from runs.memory.fits import bends_upwards, straight_line, theil_sen

SIZES = [8192.0, 32768.0, 65536.0, 100000.0]


def test_it_finds_an_exact_slope_and_no_error() -> None:
    fit = straight_line(SIZES, [5e9 + 160_000 * x for x in SIZES])
    assert fit is not None
    assert fit.slope == pytest.approx(160_000) and fit.intercept == pytest.approx(5e9)
    assert fit.slope_se == pytest.approx(0, abs=1)
    assert fit.at(131072) == pytest.approx(5e9 + 160_000 * 131072)


def test_it_agrees_with_the_textbook_error() -> None:
    fit = straight_line([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    assert fit is not None and fit.slope_se is not None
    assert fit.slope == pytest.approx(1.5)
    assert fit.slope_se == pytest.approx(0.288675, rel=1e-5)


def test_it_is_less_sure_the_farther_it_looks() -> None:
    fit = straight_line(SIZES, [1.0e9, 4.2e9, 8.1e9, 12.6e9])
    assert fit is not None
    near, far = fit.se_at(60000), fit.se_at(200000)
    assert near is not None and far is not None and far > 2 * near


def test_it_gives_no_slope_from_one_size_and_no_error_from_two() -> None:
    assert straight_line([8192.0, 8192.0], [1.0, 2.0]) is None
    fit = straight_line([8192.0, 32768.0], [1.0, 2.0])
    assert fit is not None and fit.slope_se is None and fit.se_at(131072) is None


def test_it_does_not_call_noise_a_slope() -> None:
    fit = straight_line([1.0, 2, 3, 4, 5, 6], [10.0, 9, 11, 10, 9, 11])
    assert fit is not None and not fit.is_told_from_zero


def test_it_sees_that_the_report_grows_faster_than_a_line() -> None:
    assert bends_upwards(SIZES[:3], [2.07, 8.98, 22.32])
    assert not bends_upwards(SIZES[:3], [2.0, 8.0, 16.0])
    assert not bends_upwards(SIZES[:2], [2.0, 9.0])


def test_it_finds_a_drift_through_spikes() -> None:
    days = np.linspace(0, 7, 5000)
    values = 30 + 0.5 * days + np.random.default_rng(1).normal(0, 0.2, 5000)
    values[::97] += 40
    drift = theil_sen(days, values)
    assert drift is not None
    assert drift.slope == pytest.approx(0.5, abs=0.05)
    assert drift.low <= 0.5 <= drift.high
    assert drift.is_told_from_zero


@pytest.mark.parametrize("seed", range(5))
def test_it_does_not_call_slow_swings_a_drift(seed: int) -> None:
    """Neighbours that resemble each other widen the interval."""
    noise = np.random.default_rng(seed).normal(0, 1, 300)
    swings = np.convolve(noise, np.ones(8) / 8, "same")
    plain, alike = theil_sen(np.arange(300.0), noise), theil_sen(np.arange(300.0), swings)
    assert plain is not None and alike is not None
    scale = swings.std() / noise.std()
    assert alike.high - alike.low > 1.5 * scale * (plain.high - plain.low)


def test_it_leaves_gaps_out_and_says_nothing_from_few_points() -> None:
    x = np.arange(20.0)
    y = 2 * x
    y[5:8] = np.nan
    drift = theil_sen(x, y)
    assert drift is not None and drift.n == 17 and drift.slope == pytest.approx(2)
    assert theil_sen(x[:9], y[:9]) is None
