"""The grid: every cell once, grouped by server, in an order that the seed alone decides."""

from __future__ import annotations

import itertools

import pytest

from runs.sweeps.grid import Grid, GridRefused, Place, does_not_fit, numbers

WIDE = Grid(
    runtime_parallel=(1, 2, 4),
    client_concurrency=(1, 2, 4),
    prompt_tokens=(512, 2048),
    caches=("fresh", "repeat"),
    repeats=2,
)


def test_every_cell_comes_once_and_each_server_is_launched_once() -> None:
    order = WIDE.ordered(seed=7)
    assert len(order) == len(set(order)) == 3 * 3 * 2 * 2 * 2
    launches = [parallel for parallel, _ in itertools.groupby(p.runtime_parallel for p in order)]
    assert sorted(parallel or 0 for parallel in launches) == [1, 2, 4]
    assert order != WIDE.places(), "the order is not that of the grid"


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    assert WIDE.ordered(seed=7) == WIDE.ordered(seed=7)
    assert WIDE.ordered(seed=7) != WIDE.ordered(seed=8)


def test_a_grid_survives_being_stored() -> None:
    assert Grid.from_dict(WIDE.as_dict()) == WIDE


def test_a_total_that_is_not_slots_times_context_is_refused_with_the_sum() -> None:
    Grid(runtime_parallel=(8,), context_totals=(1_048_576,)).check(131_072)
    with pytest.raises(GridRefused, match=r"8 slots × 131,072 tokens = 1,048,576, but .* 1,000"):
        Grid(runtime_parallel=(8,), context_totals=(1_000_000,)).check(131_072)


@pytest.mark.parametrize(
    ("grid", "field"),
    [
        (Grid(runtime_parallel=(0,)), "runtime_parallel"),
        (Grid(client_concurrency=()), "client_concurrency"),
        (Grid(client_concurrency=(2, 2)), "client_concurrency"),
        (Grid(prompt_tokens=(8,)), "prompt_tokens"),
        (Grid(caches=()), "caches"),
        (Grid(repeats=0), "repeats"),
        (Grid(runtime_parallel=(1, 2), context_totals=(512,)), "context_totals"),
        (Grid(tuple(range(1, 13)), tuple(range(1, 13)), (512, 1024, 2048)), "client_concurrency"),
    ],
)
def test_what_cannot_be_swept_is_refused_by_field(grid: Grid, field: str) -> None:
    with pytest.raises(GridRefused) as refused:
        grid.check(512)
    assert refused.value.field == field


def test_a_prompt_must_fit_into_a_slot_with_its_answer() -> None:
    assert "2,048 tokens" in does_not_fit(Place(1, 1, 2048, "fresh"), 2048)
    assert does_not_fit(Place(1, 1, 1024, "fresh"), 2048) == ""


def test_people_write_numbers_as_they_say_them() -> None:
    assert numbers("1, 2  4;8K") == (1, 2, 4, 8192)
    with pytest.raises(ValueError, match="'x'"):
        numbers("1, x")
