"""The demo deployment on this machine, and a sweep of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from catalog.models import Deployment, Endpoint, Revision
from catalog.runtimes import ensure_build
from people.models import User
from runs.launch.arguments import Parameters
from runs.launch.models import LaunchProfile
from runs.launch.tests.conftest import allowed as allowed
from runs.launch.tests.conftest import demo_profile as demo_profile
from runs.launch.tests.conftest import deployment as deployment
from runs.launch.tests.conftest import needs_demo as needs_demo
from runs.launch.tests.conftest import profiles as profiles
from runs.launch.tests.conftest import scripted as scripted
from runs.sweeps.grid import Grid
from runs.sweeps.models import Sweep
from runs.sweeps.services import start_sweep
from runs.tests.conftest import rung as rung

Make = Callable[..., Sweep]


@pytest.fixture
def served(deployment: Deployment) -> Deployment:
    """A server that somebody else runs; nobody listens at its address."""
    build = ensure_build(deployment.runtime, "b1")
    Revision.objects.create(
        deployment=deployment, number=1, runtime_build=build, parallel=4, context_per_slot=4096
    )
    Endpoint.objects.create(
        deployment=deployment,
        layer="direct",
        base_url="http://127.0.0.1:9/v1",
        served_model="smollm2-135m",
    )
    return deployment


@pytest.fixture
def make_sweep(
    olive: User, deployment: Deployment, demo_profile: LaunchProfile, rung: list[int]
) -> Make:
    """Of the demo profile, one cell unless the grid says otherwise."""

    def make(*, grid: dict[str, Any] | None = None, **more: Any) -> Sweep:
        values = {"runtime_parallel": (1,), "client_concurrency": (1,), **(grid or {})}
        given = {"profile": demo_profile, "base": Parameters(context_per_slot=1024), **more}
        return start_sweep(
            actor=olive, deployment=deployment, grid=Grid(**values), seed=1, **given
        )

    return make
