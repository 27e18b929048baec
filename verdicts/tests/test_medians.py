"""Only like figures meet in a median."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import Artifact, Deployment, Host, Revision, Runtime, RuntimeBuild
from runs.models import Outcome
from verdicts.selectors import Median, short_prompt_medians
from verdicts.tests.lab import add_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def deployment() -> Deployment:
    runtime = Runtime.objects.create(key="llama.cpp", name="llama.cpp")
    deployment = Deployment.objects.create(
        slug="one",
        canonical_route="one",
        artifact=Artifact.objects.create(name="One"),
        runtime=runtime,
        host=Host.objects.create(key="mac", name="Mac"),
    )
    build = RuntimeBuild.objects.create(runtime=runtime)
    Revision.objects.create(deployment=deployment, number=1, runtime_build=build)
    return deployment


def medians(deployment: Deployment) -> tuple[Median | None, Median | None]:
    ttft, decode = short_prompt_medians([deployment.pk])
    return ttft.get(deployment.pk), decode.get(deployment.pk)


def test_it_takes_the_median_over_the_requests_of_all_runs(deployment: Deployment) -> None:
    add_run(deployment, {"ttft_ms": 100}, {"ttft_ms": 300})
    add_run(deployment, {"ttft_ms": 200, "decode_tps": None})
    assert medians(deployment) == (Median(200, 3), Median(40, 2))


@pytest.mark.parametrize(
    "other",
    [
        {"cache": "repeat"},
        {"streamed": False},
        {"client_concurrency": 4},
        {"prompt_tokens": 32000},
        {"outcome": Outcome.DEGRADED},
        {"ttft_ms": None},
    ],
)
def test_another_kind_of_request_stays_out(deployment: Deployment, other: dict[str, Any]) -> None:
    add_run(deployment, {"ttft_ms": 100}, {"ttft_ms": 900, **other})
    assert medians(deployment)[0] == Median(100, 1)


@pytest.mark.parametrize("other", [{"outcome": Outcome.FAIL}, {"layer": "gateway"}])
def test_another_kind_of_run_stays_out(deployment: Deployment, other: dict[str, Any]) -> None:
    add_run(deployment, {"ttft_ms": 900}, **other)
    assert medians(deployment) == (None, None)


def test_a_new_revision_starts_without_figures(deployment: Deployment) -> None:
    add_run(deployment, {"ttft_ms": 100})
    old = deployment.revisions.get()
    deployment.revisions.update(is_active=False)
    Revision.objects.create(
        deployment=deployment, number=2, runtime_build=old.runtime_build, parallel=2
    )
    assert medians(deployment) == (None, None)
