"""A lab with one deployment, the usual people, and an engine that plays a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from celery import current_app

from catalog.models import Artifact, Deployment, Endpoint, Host, Revision, Runtime, RuntimeBuild
from runs.models import Run, Suite
from runs.planning import build_plan


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Runs whose doorbell was rung, in order; no message leaves the test."""
    ids: list[int] = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, args, **options: ids.append(args[0])
    )
    return ids


@pytest.fixture
def host(db: None) -> Host:
    return Host.objects.create(key="lab-mini", name="Lab mini")


@pytest.fixture
def deployment(host: Host) -> Deployment:
    runtime = Runtime.objects.create(key="llama-cpp", name="llama.cpp")
    artifact = Artifact.objects.create(
        name="SmolLM2 135M", quantization="Q8_0", file_name="smollm2.gguf"
    )
    deployment = Deployment.objects.create(
        slug="smollm2",
        canonical_route="smollm2-135m",
        artifact=artifact,
        runtime=runtime,
        host=host,
    )
    build = RuntimeBuild.objects.create(runtime=runtime, version="b1")
    Revision.objects.create(deployment=deployment, number=1, runtime_build=build, parallel=4)
    Endpoint.objects.create(
        deployment=deployment,
        layer="direct",
        base_url="http://127.0.0.1:9/v1",
        served_model="smollm2-135m",
    )
    return deployment


@pytest.fixture
def suite(db: None) -> Suite:
    checks = [{"key": "stream", "params": {}}, {"key": "chat", "params": {}}]
    return Suite.objects.create(key="smoke", name="Smoke", checks=checks)


@pytest.fixture
def make_run(deployment: Deployment, suite: Suite) -> Callable[..., Run]:
    def make(**fields: Any) -> Run:
        revision, endpoint = deployment.revisions.get(), deployment.endpoints.get()
        plan = build_plan(deployment=deployment, revision=revision, endpoint=endpoint, suite=suite)
        values: dict[str, Any] = {
            "deployment": deployment,
            "revision": revision,
            "endpoint": endpoint,
            "host": deployment.host,
            "layer": "direct",
            "suite": suite,
            "plan": plan.as_dict(),
            "revision_fingerprint": revision.fingerprint,
            "code_version": "test",
            "planned_requests": 2,
        }
        return Run.objects.create(**{**values, **fields})

    return make
