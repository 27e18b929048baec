"""The people of every test: Olive operates, Abel approves, Vera views, Ada is the admin."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from people.access import Role
from people.models import User
from people.services import create_person

PASSWORD = "a-long-enough-test-password"


def person(name: str, role: Role) -> User:
    return create_person(name=name, roles=[role], password=PASSWORD)[0]


@pytest.fixture
def quick_hashing(settings: Settings) -> None:
    """Slow hashes protect people, not tests."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def olive(db: None, quick_hashing: None) -> User:
    return person("olive", Role.OPERATOR)


@pytest.fixture
def abel(db: None, quick_hashing: None) -> User:
    return person("abel", Role.APPROVER)


@pytest.fixture
def vera(db: None, quick_hashing: None) -> User:
    return person("vera", Role.VIEWER)


@pytest.fixture
def ada(db: None, quick_hashing: None) -> User:
    return person("ada", Role.ADMIN)
