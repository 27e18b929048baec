"""Suites in the browser: read by everybody, edited by admins, each edit a new version."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from people.access import Role
from people.models import User
from people.tests.cast import person
from runs.models import Suite
from runs.services import ensure_default_suites
from runs.suites.selectors import versions_of
from runs.suites.services import restore_suite, save_suite

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def suites() -> None:
    ensure_default_suites()


@pytest.fixture
def browser(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def form(*checks: tuple[str, dict[str, str]], **more: str) -> dict[str, str]:
    data = {"name": "Nightly", "description": "Every night.", "do": "save", **more}
    for place, (key, params) in enumerate(checks):
        data[f"row-{place}"] = key
        data |= {f"row-{place}-{name}": value for name, value in params.items()}
    return data


def test_it_stores_an_edit_as_a_new_version_with_its_author(browser: Client, ada: User) -> None:
    answer = browser.post(
        "/suites/smoke/edit/", form(("identity", {}), ("long", {"tokens": "4,096"}))
    )
    assert answer.status_code == 302
    now = Suite.objects.get(key="smoke", is_current=True)
    assert (now.version, now.created_by) == (2, ada)
    assert now.checks == [
        {"key": "identity", "params": {}},
        {"key": "long", "params": {"tokens": 4096}},
    ]
    assert Suite.objects.get(key="smoke", version=1).name == "Smoke", "the first stays as it was"


def test_a_release_does_not_undo_what_a_person_edited(ada: User) -> None:
    checks = [{"key": "chat", "params": {}}]
    save_suite(actor=ada, key="smoke", name="Smoke", description="", checks=checks)
    ensure_default_suites()
    assert Suite.objects.get(key="smoke", is_current=True).checks == checks


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ({"key": "long", "params": {"tokens": "many"}}, "must be a number of tokens"),
        ({"key": "long", "params": {"tokens": "-5"}}, "from 16 to"),
        ({"key": "concurrency", "params": {"clients": "257"}}, "from 1 to 256"),
        ({"key": "chat", "params": {"tokens": "12"}}, "takes no parameter"),
        ({"key": "shell", "params": {}}, "no check"),
        ({"key": "marker", "params": {"marker": "a\x00b"}}, "printable"),
    ],
)
def test_it_refuses_what_no_check_takes(ada: User, check: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        save_suite(actor=ada, key="smoke", name="Smoke", description="", checks=[check])
    assert Suite.objects.filter(key="smoke").count() == 1


def test_a_refused_form_keeps_everything_that_was_typed(browser: Client) -> None:
    answer = browser.post("/suites/smoke/edit/", form(("long", {"tokens": "lots & lots"})))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="lots &amp; lots"' in page
    assert "Prompt size must be a number of tokens." in page
    assert 'value="Nightly"' in page


def test_its_buttons_change_the_draft_and_store_nothing(browser: Client) -> None:
    rows: list[tuple[str, dict[str, str]]] = [("chat", {}), ("long", {"tokens": "77"})]
    page = browser.post("/suites/smoke/edit/", form(*rows, do="up-1")).content.decode()
    assert page.index('value="long"') < page.index('value="chat"')
    assert 'value="77"' in page
    page = browser.post("/suites/smoke/edit/", form(*rows, do="remove-0")).content.decode()
    assert 'name="row-0" value="long"' in page
    page = browser.post("/suites/smoke/edit/", form(*rows, do="add", add="json")).content.decode()
    assert 'name="row-2" value="json"' in page
    assert Suite.objects.filter(key="smoke").count() == 1


def test_it_makes_a_copy_under_a_name_that_is_free(browser: Client) -> None:
    assert 'value="smoke-copy"' in browser.get("/suites/new/?copy=smoke").content.decode()
    taken = browser.post("/suites/new/", form(("chat", {}), key="smoke"))
    assert "There is a suite smoke already" in taken.content.decode()
    browser.post("/suites/new/", form(("chat", {}), key="nightly"))
    assert Suite.objects.get(key="nightly").version == 1


def test_it_tells_what_each_version_changed_and_brings_one_back(ada: User) -> None:
    checks = [{"key": "identity", "params": {}}, {"key": "long", "params": {"tokens": 64}}]
    save_suite(actor=ada, key="smoke", name="Smoke", description="", checks=checks)
    newest, first = versions_of("smoke")
    assert newest.added == ["Long context, fresh (Prompt size 64 tokens)"]
    assert newest.removed == ["Marker", "Plain chat", "Plain chat, streamed"]
    restored = restore_suite(actor=ada, version=first.suite)
    assert (restored.version, restored.checks) == (3, first.suite.checks)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.APPROVER])
def test_others_may_read_and_not_edit(client: Client, role: Role) -> None:
    other = person("nina", role)
    client.force_login(other)
    page = client.get("/suites/smoke/").content.decode()
    assert "Plain chat, streamed" in page
    assert "/edit/" not in page
    assert client.post("/suites/smoke/edit/", form(("chat", {}))).status_code == 403
    with pytest.raises(PermissionDenied):
        save_suite(actor=other, key="smoke", name="x", description="", checks=[{"key": "chat"}])
