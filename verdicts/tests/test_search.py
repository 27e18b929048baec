from __future__ import annotations

import html

import pytest
from django.core.management import call_command
from django.test import Client

from catalog.models import Artifact, Deployment
from people.models import User
from verdicts.tests.lab import add_run


@pytest.fixture
def viewer(client: Client, vera: User) -> Client:
    call_command("load_report", verbosity=0)
    client.force_login(vera)
    return client


def find(client: Client, text: str) -> str:
    answer = client.get("/search/", {"q": text})
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def test_it_finds_deployments_by_every_word(viewer: Client) -> None:
    page = find(viewer, "heretic omlx 27B")
    assert "/deployments/qwen-3-6-27b-uncensored-heretic-v2-mlx-4-bit-omlx/" in page
    assert "heretic-q4_k_m-ollama" not in page


def test_it_finds_artifacts_by_file_digest_and_alias(viewer: Client) -> None:
    Artifact.objects.filter(deployments__report_id="A2").update(
        file_name="heretic.gguf", digest_sha256="ab" * 32
    )
    for text in ("heretic.gguf", "ABAB", "qwen3.6-27b-heretic-v2"):
        page = find(viewer, text)
        assert page.count("<h2>Artifacts</h2>") == 1
        assert "Qwen 3.6 27B Heretic V2" in page


@pytest.mark.parametrize("form", ["{}", "#{}", "run {}"])
def test_it_finds_a_run_by_its_number(viewer: Client, form: str) -> None:
    run = add_run(Deployment.objects.get(report_id="A1"))
    assert f'href="/runs/{run.pk}/"' in find(viewer, form.format(run.pk))


@pytest.mark.parametrize("text", ["nonesuch", "9" * 40, "%", "'; drop table", "<script>"])
def test_what_is_not_there_is_said_plainly(viewer: Client, text: str) -> None:
    page = viewer.get("/search/", {"q": text}).content.decode()
    assert "Nothing found" in page
    assert "<script>&" not in page


def test_an_empty_question_explains_itself(viewer: Client) -> None:
    assert "What are you looking for?" in find(viewer, "  ")
