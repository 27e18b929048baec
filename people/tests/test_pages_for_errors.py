from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from people.models import User


def test_a_page_that_is_not_there_says_so_within_the_product(client: Client, vera: User) -> None:
    client.force_login(vera)
    answer = client.get("/nothing/here/")
    assert answer.status_code == 404
    assert "There is no such page" in answer.content.decode()
    assert 'aria-label="Main"' in answer.content.decode()


@pytest.mark.django_db
def test_a_visitor_gets_a_plain_page_for_what_is_not_there(client: Client) -> None:
    answer = client.get("/nothing/here/")
    assert answer.status_code == 404
    assert 'aria-label="Main"' not in answer.content.decode()


def test_a_refusal_names_the_roles_that_may(client: Client, vera: User) -> None:
    client.force_login(vera)
    answer = client.get("/deployments/new/")
    assert answer.status_code == 403
    assert "This needs the role admin or operator." in answer.content.decode()


def test_a_form_without_its_token_changes_nothing_and_says_what_to_do(vera: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(vera)
    answer = strict.post("/logout/")
    assert answer.status_code == 403
    assert "reload the page and send it again" in answer.content.decode()


def test_an_error_of_our_own_shows_a_page(vera: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog.selectors.hosts", lambda: 1 / 0)
    client = Client(raise_request_exception=False)
    client.force_login(vera)
    answer = client.get("/hosts/")
    assert answer.status_code == 500
    assert "Something broke" in answer.content.decode()


def test_the_policy_allows_nothing_inline_and_nobody_else(client: Client, vera: User) -> None:
    client.force_login(vera)
    policy = client.get("/hosts/")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy
    assert settings.SESSION_COOKIE_HTTPONLY
