"""The people of every test: Olive operates, Abel approves, Vera views, Ada is the admin."""

from __future__ import annotations

import pytest

from people.access import Role
from people.models import User
from people.services import create_person

PASSWORD = "a-long-enough-test-password"


def person(name: str, role: Role) -> User:
    return create_person(name=name, roles=[role], password=PASSWORD)[0]


@pytest.fixture
def olive(db: None) -> User:
    return person("olive", Role.OPERATOR)


@pytest.fixture
def abel(db: None) -> User:
    return person("abel", Role.APPROVER)


@pytest.fixture
def vera(db: None) -> User:
    return person("vera", Role.VIEWER)


@pytest.fixture
def ada(db: None) -> User:
    return person("ada", Role.ADMIN)
