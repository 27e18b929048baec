"""A deployment that an admin registered, the suites, and a doorbell that only notes."""

from __future__ import annotations

import pytest
from celery import current_app
from django.core.cache import cache

from catalog.models import Deployment, Host
from catalog.services import ArtifactFacts, Configuration, EndpointFacts, register_deployment
from people.models import User
from runs.services import ensure_default_suites


@pytest.fixture(autouse=True)
def fresh_throttles() -> None:
    cache.clear()


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Runs whose doorbell was rung; no message leaves the test."""
    ids: list[int] = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, args, **options: ids.append(args[0])
    )
    return ids


@pytest.fixture
def deployment(ada: User) -> Deployment:
    ensure_default_suites()
    return register_deployment(
        actor=ada,
        route="toy",
        runtime_key="llama.cpp",
        host=Host.objects.create(key="mini", name="Mini"),
        artifact=ArtifactFacts(name="Toy 135M"),
        configuration=Configuration(runtime_version="b1", parallel=2),
        endpoint=EndpointFacts(base_url="http://127.0.0.1:9/v1", served_model="toy"),
    )
