from __future__ import annotations

import copy
import html
import socket
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client

from catalog.discovery import Found, local_digest, look_at, register_discovered
from catalog.models import Artifact, Deployment, Host
from catalog.tests.servers import LLAMA_CPP, serving, speaking
from people.models import User
from runs.engine.runtimes.base import Facts
from runs.engine.runtimes.detect import Discovery, DiscoveryError
from runs.engine.runtimes.processes import ProcessHint

PAGE = (200, "text/html", "<html><body>Welcome</body></html>")


@pytest.fixture
def operator(client: Client, olive: User) -> Client:
    client.force_login(olive)
    return client


def ask(client: Client, address: str, **more: str) -> Any:
    return client.post("/deployments/discover/", {"address": address, **more})


def test_it_fills_the_form_with_what_the_server_says(operator: Client) -> None:
    with serving(LLAMA_CPP) as address:
        answer = ask(operator, address)
    page = answer.content.decode()
    assert answer.status_code == 200
    form = answer.context["form"]
    assert form["runtime"].value() == "llama.cpp"
    assert form["route"].value() == "heretic"
    assert form["file_name"].value() == "Heretic-27B.Q4_K_M.gguf"
    assert form["format"].value() == "GGUF"
    assert (form["parallel"].value(), form["context_total"].value()) == (4, 32768)
    assert "Slots: 4" in page
    assert "digest of the model" in page
    assert "/private/models" not in page
    assert not Deployment.objects.exists()


def test_an_admin_gets_the_endpoint_filled_in(client: Client, ada: User) -> None:
    client.force_login(ada)
    with serving(LLAMA_CPP) as address:
        endpoint = ask(client, address, key_variable="LAB_KEY").context["endpoint"]
    assert endpoint["base_url"].value() == f"{address}/v1"
    assert endpoint["served_model"].value() == "heretic"
    assert endpoint["api_key_env"].value() == "LAB_KEY"


def said(client: Client, address: str, **more: str) -> str:
    answer = ask(client, address, **more)
    assert answer.status_code == 422
    page = html.unescape(answer.content.decode())
    assert f'value="{address}"' in page
    return page


def test_a_closed_port_is_told_plainly(operator: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert "Nothing answers at" in said(operator, f"http://127.0.0.1:{port}")


def test_a_port_that_is_not_http_is_told_plainly(operator: Client) -> None:
    with speaking(b"220 mail.example ESMTP\r\n") as address:
        assert "does not answer in HTTP" in said(operator, address)


def test_a_web_page_is_told_plainly(operator: Client) -> None:
    with serving({"/v1/models": PAGE, "/": PAGE, "/health": PAGE}) as address:
        assert "answered with a web page" in said(operator, address)


def test_a_missing_key_is_told_plainly(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "right")
    with serving(LLAMA_CPP, token="right") as address:
        assert "wants a key (401)" in said(operator, address)
        assert ask(operator, address, key_variable="LAB_KEY").status_code == 200


def test_a_key_that_is_typed_instead_of_its_name_is_not_sent(operator: Client) -> None:
    page = said(operator, "http://127.0.0.1:1", key_variable="sk-very-secret")
    assert "Give the name, never the key." in page


def test_too_much_of_an_answer_is_told_plainly(operator: Client) -> None:
    endless = (200, "application/json", '{"data": "' + "x" * 10_000_000 + '"}')
    with serving({"/v1/models": endless}) as address:
        assert "sent more than" in said(operator, address)


@pytest.mark.parametrize(
    "address", ["mac", "ftp://mac", "http://", "http://u:p@mac", "http://a b"]
)
def test_an_address_that_is_none_is_refused_before_asking(operator: Client, address: str) -> None:
    assert 'class="field has-errors"' in said(operator, address)


def test_what_a_server_says_is_escaped(operator: Client) -> None:
    hostile = copy.deepcopy(LLAMA_CPP)
    hostile["/v1/models"]["data"][0]["id"] = "<script>alert(1)</script>"
    hostile["/v1/models"]["data"][0]["aliases"] = []
    with serving(hostile) as address:
        assert "<script>alert(1)" not in ask(operator, address).content.decode()


@pytest.mark.django_db
def test_registering_what_was_found_twice_changes_nothing() -> None:
    Host.objects.create(key="here", name="Here")
    with serving(LLAMA_CPP) as address:
        first = register_discovered(host_key="here", discovery=look_at(address))
        again = register_discovered(host_key="here", discovery=look_at(address))
    assert first == again
    assert first.canonical_route == "heretic"
    assert first.revisions.get().parallel == 4
    assert first.endpoints.get().base_url == f"{address}/v1"
    artifact = Artifact.objects.get()
    assert (artifact.name, artifact.size_label) == ("Heretic-27B", "27B")


@pytest.mark.django_db
def test_a_changed_configuration_makes_a_revision_and_a_moved_server_an_endpoint() -> None:
    Host.objects.create(key="here", name="Here")
    with serving(LLAMA_CPP) as address:
        register_discovered(host_key="here", discovery=look_at(address))
    changed = copy.deepcopy(LLAMA_CPP)
    changed["/props"]["total_slots"] = 8
    with serving(changed) as address:
        deployment = register_discovered(host_key="here", discovery=look_at(address))
    assert [(r.number, r.parallel) for r in deployment.revisions.all()] == [(2, 8), (1, 4)]
    assert deployment.endpoints.get(is_active=True).base_url == f"{address}/v1"


def test_a_person_registers_what_was_found_only_as_admin(olive: User) -> None:
    found = Found(Discovery("http://mac/v1", model="x"))
    with pytest.raises(PermissionDenied):
        register_discovered(host_key="here", discovery=found, actor=olive)


def test_a_file_that_only_the_server_claims_is_never_read(tmp_path: Any) -> None:
    secret = tmp_path / "secret.gguf"
    secret.write_text("private")
    found = Discovery("http://mac/v1", facts=Facts(file=str(secret)))
    assert local_digest(found) == ""
    found.process = ProcessHint(1, 0.0, ("server",), ())
    assert local_digest(found) == ""
    found.process = ProcessHint(1, 0.0, ("server",), (str(secret),))
    assert len(local_digest(found)) == 64


@pytest.mark.django_db
def test_a_server_that_names_no_model_is_not_registered() -> None:
    Host.objects.create(key="here", name="Here")
    with pytest.raises(DiscoveryError, match="names no model"):
        register_discovered(host_key="here", discovery=Found(Discovery("http://mac/v1")))
    assert not Deployment.objects.exists()


def test_nothing_found_raises_a_sentence() -> None:
    with (
        serving({"/v1/models": (200, "application/json", "[]")}, name="x") as address,
        pytest.raises(DiscoveryError, match="does not look like a model server"),
    ):
        look_at(address)
