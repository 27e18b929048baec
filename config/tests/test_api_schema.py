"""Whatever the description allows, and what it does not, is answered without a fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as limits
from pytest_django import Settings
from schemathesis.core.result import Ok

from catalog.models import Deployment
from people.models import User
from people.scopes import Scope
from people.tokens import make_token

EXAMPLES = 6
schemathesis.serializer.alias("application/x-ndjson", "text/plain")


@pytest.fixture
def one_connection(db: None) -> Iterator[None]:
    """As Django's own test client does: the test's transaction outlives each request."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_no_generated_request_is_answered_with_a_server_error(
    ada: User,
    deployment: Deployment,
    rung: list[int],
    settings: Settings,
    one_connection: None,
) -> None:
    settings.API_RATES = {"ask": "1000000/min", "change": "1000000/min"}
    settings.ALLOWED_HOSTS = ["*"]
    text = make_token(actor=ada, name="all", scopes=list(Scope), days=1)[1]
    schema = schemathesis.openapi.from_wsgi(
        "/api/v1/schema/",
        get_wsgi_application(),
        headers={"Authorization": f"Bearer {text}"},
    )
    asked = 0
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        faults = ask(operation, {"Authorization": f"Bearer {text}"})
        assert faults == [], operation.label
        asked += 1
    assert asked > 30


def ask(operation: Any, headers: dict[str, str]) -> list[str]:
    """What came back as a fault of ours, over a few seeded examples."""
    faults: list[str] = []

    @seed(1)
    @limits(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def once(case: Any) -> None:
        response = case.call(headers=headers)
        if response.status_code >= 500:
            faults.append(f"{response.status_code} {case.as_curl_command()}")

    once()
    return faults
