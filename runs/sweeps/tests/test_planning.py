"""What a sweep would do and cost, before it starts, and what it refuses to do."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from catalog.models import Artifact, Deployment
from people.models import User
from runs.launch.arguments import Parameters
from runs.launch.models import LaunchProfile
from runs.memory import planner
from runs.memory.budget import PROCESS_GIB
from runs.sweeps import estimating
from runs.sweeps.grid import Grid, GridRefused
from runs.sweeps.models import CellState
from runs.sweeps.planning import Draft, plan_sweep
from runs.sweeps.services import SweepRefused, start_sweep
from runs.sweeps.tests.conftest import Make

GIB = 1024**3


def draft(deployment: Deployment, profile: LaunchProfile | None, **grid: Any) -> Draft:
    return Draft(
        deployment=deployment,
        profile=profile,
        base=Parameters(context_per_slot=131_072 if profile else None),
        grid=Grid(**grid),
    )


@pytest.fixture
def known_memory(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """1 GiB of weights, and 32 KiB for each token as measured."""
    Artifact.objects.update(size_bytes=GIB)
    deployment.refresh_from_db()
    found = planner.PerToken(32 * 1024, "measured by us: 32 KiB", "client")
    monkeypatch.setattr(estimating, "bytes_per_token", lambda *_: found)


def test_cells_over_the_guard_are_marked_with_the_reason_and_the_rest_is_estimated(
    known_memory: None, deployment: Deployment, demo_profile: LaunchProfile
) -> None:
    demo_profile.memory_budget_mib = 10 * 1024
    planned = plan_sweep(
        draft(deployment, demo_profile, runtime_parallel=(1, 2, 4), client_concurrency=(1, 2)),
        seed=3,
    )
    skipped = {cell.place.runtime_parallel for cell in planned.skipped}
    assert skipped == {4}
    reason = planned.skipped[0].skip_reason
    assert "4 slots" in reason and "about 17 GiB" in reason and "allows 10 GiB" in reason
    assert "measured by us" in reason and "the memory budget of the profile" in reason
    assert (planned.estimate.cells, planned.estimate.skipped) == (6, 2)
    assert [need.total_bytes for need in planned.estimate.memory] == [5 * GIB, 9 * GIB, 17 * GIB]
    assert planned.sums[2] == "4 slots × 131,072 tokens = 524,288"


def test_what_was_measured_with_the_same_settings_counts_where_it_is_more(
    known_memory: None, make_sweep: Make, deployment: Deployment, demo_profile: LaunchProfile
) -> None:
    sweep = make_sweep(base=Parameters(context_per_slot=131_072))
    sweep.cells.update(figures={"peak_rss_bytes": 6 * GIB})
    planned = plan_sweep(draft(deployment, demo_profile, runtime_parallel=(1, 2)), seed=3)
    alone, both = planned.estimate.memory
    assert (alone.total_bytes, alone.origin) == (6 * GIB, "client")
    assert "the highest of 1 cell of earlier sweeps" in alone.source
    assert both.total_bytes == 9 * GIB, "another runtime parallel says nothing about it"


def test_a_prompt_that_no_slot_holds_is_skipped(
    deployment: Deployment, demo_profile: LaunchProfile
) -> None:
    planned = plan_sweep(
        draft(deployment, demo_profile, runtime_parallel=(1,), prompt_tokens=(1024, 131_072)),
        seed=3,
    )
    (skipped,) = planned.skipped
    assert skipped.place.prompt_tokens == 131_072
    assert "do not fit into a slot" in skipped.skip_reason


def test_an_external_server_is_swept_over_client_concurrency_only(served: Deployment) -> None:
    planned = plan_sweep(draft(served, None, client_concurrency=(1, 2)), seed=3)
    assert {cell.place.runtime_parallel for cell in planned.cells} == {None}
    assert "Somebody else runs this server" in planned.why_external
    with pytest.raises(GridRefused, match="Somebody else runs this server"):
        plan_sweep(draft(served, None, runtime_parallel=(1, 2)), seed=3)


def test_a_value_that_no_argument_takes_is_refused_before_anything_is_stored(
    make_sweep: Make,
) -> None:
    with pytest.raises(GridRefused, match="begins with a dash"):
        make_sweep(base=Parameters(context_per_slot=1024, model_path="--rpc=evil"))
    with pytest.raises(GridRefused, match="A value is missing for context_per_slot"):
        make_sweep(base=Parameters())


def test_starting_stores_every_cell_and_rings_the_host(
    make_sweep: Make, rung: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        sweep = make_sweep(grid={"client_concurrency": (1, 2), "prompt_tokens": (512, 2048)})
    assert rung == [sweep.pk]
    states = list(sweep.cells.order_by("prompt_tokens").values_list("prompt_tokens", "state"))
    waiting, skipped = CellState.WAITING.value, CellState.SKIPPED.value
    assert states == [(512, waiting), (512, waiting), (2048, skipped), (2048, skipped)]
    assert list(sweep.cells.values_list("position", flat=True)) == [0, 1, 2, 3]


def test_a_sweep_without_a_cell_to_run_is_refused(make_sweep: Make) -> None:
    with pytest.raises(SweepRefused, match="Every cell would be skipped"):
        make_sweep(guards={PROCESS_GIB: 4.0}, grid={"prompt_tokens": (2048,)})


def test_a_viewer_may_not_start_one(
    vera: User, deployment: Deployment, demo_profile: LaunchProfile
) -> None:
    with pytest.raises(PermissionDenied):
        start_sweep(actor=vera, deployment=deployment, profile=demo_profile, grid=Grid())
