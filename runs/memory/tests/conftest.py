"""A run to hang series on, and helpers to make series."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client

from catalog.models import (
    Artifact,
    Deployment,
    Endpoint,
    Host,
    Revision,
    Runtime,
    RuntimeBuild,
)
from people.models import User
from runs.memory.writing import SeriesWriter
from runs.models import Run, Suite

GIB = 1024**3


@pytest.fixture
def deployment(db: None) -> Deployment:
    """The demo model on llama.cpp, 8 slots, on a host with 512 GiB."""
    runtime = Runtime.objects.create(key="llama.cpp", name="llama.cpp")
    host = Host.objects.create(key="studio", name="Studio", memory_bytes=512 * GIB)
    made = Deployment.objects.create(
        slug="small",
        canonical_route="small",
        artifact=Artifact.objects.create(name="Small", format="GGUF", size_bytes=GIB),
        runtime=runtime,
        host=host,
    )
    Revision.objects.create(
        deployment=made,
        number=1,
        runtime_build=RuntimeBuild.objects.create(runtime=runtime, version="1"),
        parallel=8,
        context_per_slot=131072,
        context_total=8 * 131072,
        prompt_cache_mib=1024,
    )
    Endpoint.objects.create(
        deployment=made, layer="direct", base_url="http://127.0.0.1:8080/v1", served_model="small"
    )
    return made


@pytest.fixture
def make_run(deployment: Deployment) -> Callable[..., Run]:
    def make(**fields: object) -> Run:
        suite, _ = Suite.objects.get_or_create(key="smoke", defaults={"name": "S", "checks": []})
        revision = deployment.revisions.get()
        return Run.objects.create(
            deployment=deployment,
            revision=revision,
            endpoint=deployment.endpoints.get(),
            host=deployment.host,
            layer="direct",
            suite=suite,
            plan={},
            revision_fingerprint=revision.fingerprint,
            code_version="test",
            **fields,
        )

    return make


@pytest.fixture
def run(make_run: Callable[..., Run]) -> Run:
    return make_run()


def write(run: Run, name: str, times_ms: np.ndarray, values: np.ndarray) -> None:
    """Store a series as the event writer would."""
    writer = SeriesWriter(run.pk)
    pairs = zip(times_ms.tolist(), values.tolist(), strict=True)
    writer.add((t, {name: None if np.isnan(v) else v, "gap": "unseen"}) for t, v in pairs)
    writer.save(now=True)


@pytest.fixture
def page(client: Client, vera: User) -> Callable[[str], str]:
    """Vera views, and what she may view is everything."""
    client.force_login(vera)

    def get(url: str) -> str:
        response = client.get(url)
        assert response.status_code == 200, response
        return response.content.decode()

    return get
