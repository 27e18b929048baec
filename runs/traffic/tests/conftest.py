"""A deployment of two revisions, a day apart, and lines that a proxy may send."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from catalog.models import Deployment, Host, Revision
from catalog.services import (
    ArtifactFacts,
    Configuration,
    EndpointFacts,
    change_configuration,
    register_deployment,
)
from people.models import User

Line = Callable[..., bytes]


@pytest.fixture
def hour() -> datetime:
    """The start of an hour that is wholly over."""
    return timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)


@pytest.fixture
def deployment(ada: User, hour: datetime) -> Deployment:
    """Revision 2 is active since the middle of the hour."""
    made = register_deployment(
        actor=ada,
        route="toy",
        runtime_key="llama.cpp",
        host=Host.objects.create(key="mini", name="Mini"),
        artifact=ArtifactFacts(name="Toy 135M"),
        configuration=Configuration(runtime_version="b1", parallel=2),
        endpoint=EndpointFacts("http://127.0.0.1:9/v1", "toy-served", layer="proxy"),
    )
    change_configuration(actor=ada, deployment=made, changes={"parallel": 4})
    for number, since in ((1, hour - timedelta(days=1)), (2, hour + timedelta(minutes=30))):
        Revision.objects.filter(deployment=made, number=number).update(created_at=since)
    return made


@pytest.fixture
def line(hour: datetime) -> Line:
    """A clean answer, but for what is given; `...` leaves a field out."""

    def make(number: int = 1, *, minute: float = 0, **changes: Any) -> bytes:
        told = {
            "id": f"r{number}",
            "at": (hour + timedelta(minutes=minute)).isoformat(),
            "route": "toy",
            "status": 200,
            "streamed": True,
            "done_seen": True,
            "finish_reason": "stop",
            "ttft_ms": 120.0,
            "wall_ms": 900.0,
            "prompt_tokens": 20,
            "completion_tokens": 30,
        }
        told |= changes
        return json.dumps({k: v for k, v in told.items() if v is not ...}).encode() + b"\n"

    return make
