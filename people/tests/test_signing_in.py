from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from people.models import User
from people.services import create_first_admin
from people.tests.cast import PASSWORD

NEW = "another-quite-long-one"


def sign_in(client: Client, name: str, password: str) -> int:
    return client.post("/login/", {"username": name, "password": password}).status_code


@pytest.mark.django_db
def test_every_page_sends_a_visitor_to_sign_in(client: Client) -> None:
    for name in ("inventory", "search", "deployment-new", "hosts", "claims", "follow-ups"):
        answer = client.get(reverse(name))
        assert answer.status_code == 302
        assert answer["Location"].startswith("/login/?next=")


def test_a_wrong_password_is_told_and_the_name_is_kept(client: Client, vera: User) -> None:
    answer = client.post("/login/", {"username": "vera", "password": "wrong"})
    assert "Name and password do not match" in answer.content.decode()
    assert 'value="vera"' in answer.content.decode()


def test_signing_in_leads_to_the_inventory(client: Client, vera: User) -> None:
    answer = client.post("/login/", {"username": "vera", "password": PASSWORD})
    assert answer["Location"] == reverse("inventory")


def test_logging_out_needs_a_post(client: Client, vera: User) -> None:
    client.force_login(vera)
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == reverse("login")
    assert client.get("/").status_code == 302


@pytest.mark.django_db
def test_a_one_time_password_opens_only_its_replacement(client: Client) -> None:
    _, password = create_first_admin()
    assert sign_in(client, "admin", password or "") == 302
    assert client.get("/hosts/")["Location"] == reverse("password_change")
    page = client.get("/password/").content.decode()
    assert "one-time password" in page
    form = {"old_password": password, "new_password1": NEW, "new_password2": NEW}
    assert client.post("/password/", form)["Location"] == reverse("inventory")
    assert client.get("/hosts/").status_code == 200


@pytest.mark.django_db
def test_a_weak_new_password_is_refused_with_reasons(client: Client) -> None:
    _, password = create_first_admin()
    sign_in(client, "admin", password or "")
    form = {"old_password": password, "new_password1": "1234", "new_password2": "1234"}
    page = client.post("/password/", form).content.decode()
    assert "too short" in page
    assert client.get("/hosts/").status_code == 302


def test_changing_by_choice_keeps_the_person_signed_in(client: Client, vera: User) -> None:
    client.force_login(vera)
    form = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    page = client.post("/password/", form, follow=True).content.decode()
    assert "Your password is changed." in page
