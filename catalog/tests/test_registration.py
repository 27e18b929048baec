from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from catalog.models import Deployment, Host
from people.models import User

FORM = {
    "model": "Heretic 27B",
    "route": "heretic",
    "runtime": "llama.cpp",
    "new_host": "My Mac",
    "task": "generation",
    "format": "GGUF",
    "quantization": "Q4_K_M",
    "parallel": "4",
    "context_per_slot": "8192",
    "context_total": "32768",
}
ENDPOINT = {
    "endpoint-layer": "direct",
    "endpoint-base_url": "http://127.0.0.1:8080/v1/",
    "endpoint-served_model": "heretic",
    "endpoint-api_key_env": "LAB_KEY",
}


def send(client: Client, **changes: Any) -> Any:
    return client.post("/deployments/new/", {**FORM, **changes})


@pytest.fixture
def operator(client: Client, olive: User) -> Client:
    client.force_login(olive)
    return client


@pytest.fixture
def admin(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def test_an_operator_registers_by_hand_and_lands_on_its_page(operator: Client) -> None:
    answer = send(operator)
    assert answer["Location"] == "/deployments/heretic-llama-cpp/"
    deployment = Deployment.objects.get()
    assert deployment.host == Host.objects.get(key="my-mac")
    assert deployment.artifact.quantization == "Q4_K_M"
    assert not deployment.endpoints.exists()


def test_an_operator_is_told_that_an_admin_adds_the_endpoint(operator: Client) -> None:
    page = operator.get("/deployments/new/").content.decode()
    assert "An admin adds the endpoint" in page
    assert "endpoint-base_url" not in page


def test_an_operator_cannot_slip_an_endpoint_in(operator: Client) -> None:
    send(operator, **ENDPOINT)
    assert not Deployment.objects.get().endpoints.exists()


def test_an_admin_registers_the_endpoint_along(admin: Client) -> None:
    send(admin, **ENDPOINT)
    endpoint = Deployment.objects.get().endpoints.get()
    assert endpoint.base_url == "http://127.0.0.1:8080/v1"
    assert endpoint.api_key_env == "LAB_KEY"


def test_an_admin_may_leave_the_endpoint_for_later(admin: Client) -> None:
    empty = {**dict.fromkeys(ENDPOINT, ""), "endpoint-layer": "direct"}
    assert send(admin, **empty).status_code == 302
    assert not Deployment.objects.get().endpoints.exists()


@pytest.mark.parametrize("path", ["/deployments/new/", "/deployments/discover/"])
def test_viewers_and_approvers_are_refused(
    client: Client, vera: User, abel: User, path: str
) -> None:
    for person in (vera, abel):
        client.force_login(person)
        assert client.post(path, FORM).status_code == 403
    assert not Deployment.objects.exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": ""}, "This field is required."),
        ({"route": " "}, "This field is required."),
        ({"runtime": "abacus"}, "not one of the available choices"),
        ({"new_host": ""}, "Choose a host, or name a new one."),
        ({"new_host": "???"}, "letters or digits"),
        ({"parallel": "0"}, "greater than or equal to 1"),
        ({"parallel": "many"}, "Enter a whole number."),
        ({"parallel": "9" * 30}, "less than or equal to"),
        ({"context_total": "40000"}, "4 slots x 8,192 tokens = 32,768, not 40,000."),
        ({"digest_sha256": "abc"}, "A SHA-256 has 64 digits"),
    ],
)
def test_bad_input_is_told_beside_the_field_and_kept(
    operator: Client, changes: dict[str, str], said: str
) -> None:
    answer = send(operator, **changes)
    assert answer.status_code == 200
    page = answer.content.decode()
    assert said in page
    assert 'value="GGUF"' in page
    assert not Deployment.objects.exists()


def test_registering_it_twice_is_told_above_the_form(operator: Client) -> None:
    send(operator)
    page = send(operator, new_host="", host=str(Host.objects.get().pk)).content.decode()
    assert "is registered on My Mac already" in page


def test_what_people_type_is_escaped(operator: Client) -> None:
    page = send(operator, model="<script>alert(1)</script>", parallel="x").content.decode()
    assert "<script>alert(1)" not in page


def test_a_new_revision_starts_from_the_active_one(operator: Client) -> None:
    send(operator)
    path = "/deployments/heretic-llama-cpp/revisions/new/"
    assert 'value="8192"' in operator.get(path).content.decode()
    changed = {"parallel": "8", "context_per_slot": "8192", "context_total": "65536"}
    assert operator.post(path, changed).status_code == 302
    assert Deployment.objects.get().revisions.get(is_active=True).number == 2
    same = operator.post(path, changed).content.decode()
    assert "Nothing differs from revision 2" in same


def test_an_endpoint_is_added_by_an_admin_only(admin: Client, olive: User) -> None:
    send(admin)
    path = "/deployments/heretic-llama-cpp/endpoints/new/"
    form = {key.removeprefix("endpoint-"): value for key, value in ENDPOINT.items()}
    bad = admin.post(path, {**form, "base_url": "mac"}).content.decode()
    assert "Give an address such as" in bad
    assert admin.post(path, form).status_code == 302
    assert Deployment.objects.get().endpoints.count() == 1
    admin.force_login(olive)
    assert admin.get(path).status_code == 403
    assert admin.post(path, form).status_code == 403
