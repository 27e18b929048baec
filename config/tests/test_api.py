"""The API answers as the pages do: same services, same rules, errors in words."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from catalog.models import Deployment
from people.models import User
from people.tokens import make_token
from runs.models import Run

START = {"deployment": "toy-llama-cpp", "suite": "smoke", "layer": "direct"}


def program(person: User, *scopes: str) -> Client:
    """What acts for the person with a token of these scopes."""
    text = make_token(actor=person, name="test", scopes=scopes, days=1)[1]
    return Client(headers={"Authorization": f"Bearer {text}"})


def post(client: Client, address: str, body: dict[str, Any], key: str = "") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(
        f"/api/v1/{address}", body, content_type="application/json", headers=headers
    )


def test_without_a_token_or_session_it_says_in_a_problem_detail_how_to_sign_in(
    client: Client, db: None
) -> None:
    answer = client.get("/api/v1/runs/")
    assert answer.status_code == 401 and answer["WWW-Authenticate"] == "Bearer"
    assert answer["Content-Type"] == "application/problem+json"
    wrong = client.get("/api/v1/runs/", headers={"Authorization": "Bearer cpt_no"})
    assert wrong.status_code == 401 and "revoked" in wrong.json()["detail"]
    assert client.get("/api/v2/anything").json()["status"] == 404


def test_a_start_with_the_same_key_starts_once_and_another_body_is_refused(
    olive: User,
    deployment: Deployment,
    rung: list[int],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    client = program(olive, "run")
    with django_capture_on_commit_callbacks(execute=True):
        first = post(client, "runs/", START, key="a")
        again = post(client, "runs/", START, key="a")
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json() and again["Idempotent-Replayed"] == "true"
    assert rung == [Run.objects.get().pk]
    other = post(client, "runs/", {**START, "suite": "contract"}, key="a")
    assert other.status_code == 422 and "another request" in other.json()["detail"]
    assert Run.objects.count() == 1


def test_what_a_service_refuses_is_told_in_its_words_and_keeps_no_key(
    olive: User, deployment: Deployment
) -> None:
    client = program(olive, "run")
    refused = post(client, "runs/", {**START, "layer": "proxy"}, key="b")
    assert refused.status_code == 409 and "no proxy endpoint" in refused.json()["detail"]
    wrong = post(client, "runs/", {**START, "layer": "attic"}, key="b")
    assert wrong.status_code == 400 and "layer" in wrong.json()["errors"]
    run = post(client, "runs/", START, key="b").json()
    assert post(client, f"runs/{run['id']}/cancel/", {}).json()["failure_class"] == "cancelled"
    over = post(client, f"runs/{run['id']}/cancel/", {})
    assert over.status_code == 409 and "over already" in over.json()["detail"]


def test_scopes_and_roles_both_have_to_allow(
    olive: User, vera: User, deployment: Deployment
) -> None:
    lacking = post(program(olive, "read"), "runs/", START)
    assert lacking.status_code == 403 and "lacks the scope run" in lacking.json()["detail"]
    viewer = post(program(vera, "run", "admin"), "runs/", START)
    assert viewer.status_code == 403 and "needs the role" in viewer.json()["detail"]
    assert not Run.objects.exists()


def test_lists_come_in_cursor_pages_and_filtered(olive: User, deployment: Deployment) -> None:
    client = program(olive, "run")
    ids = [post(client, "runs/", START).json()["id"] for _ in range(3)]
    page = client.get("/api/v1/runs/?page_size=2&state=queued").json()
    assert [run["id"] for run in page["results"]] == ids[:0:-1]
    rest = client.get(page["next"]).json()
    assert [run["id"] for run in rest["results"]] == ids[:1]
    assert client.get("/api/v1/runs/?state=odd").status_code == 400
    assert client.get("/api/v1/runs/?cursor=cD1hYmM%3D").status_code == 404
    assert client.get("/api/v1/runs/?suite=%00").status_code == 400


def test_a_session_may_use_it_too_but_not_without_csrf(
    olive: User, deployment: Deployment
) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(olive)
    assert browser.get(f"/api/v1/deployments/{deployment.slug}/").status_code == 200
    refused = post(browser, "runs/", START)
    assert refused.status_code == 403 and "CSRF" in refused.json()["detail"]


def test_asking_too_often_is_told_with_when_to_come_back(
    olive: User, deployment: Deployment, settings: Settings
) -> None:
    settings.API_RATES = {"ask": "2/min", "change": "1/min"}
    client = program(olive, "read")
    answers = [client.get("/api/v1/hosts/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2]["Retry-After"]) > 0


@pytest.mark.parametrize("part", ["requests", "events", "memory"])
def test_the_parts_of_a_run_are_read(olive: User, deployment: Deployment, part: str) -> None:
    client = program(olive, "run")
    run = post(client, "runs/", START).json()["id"]
    assert client.get(f"/api/v1/runs/{run}/{part}/").status_code == 200
    assert client.get(f"/api/v1/runs/{run}9/{part}/").status_code == 404
