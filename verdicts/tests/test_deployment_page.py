from __future__ import annotations

import html

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Deployment
from people.models import User
from runs.models import Outcome, Run
from verdicts.tests.lab import add_endpoint, add_run


@pytest.fixture(autouse=True)
def report(db: None) -> None:
    call_command("load_report", verbosity=0)


@pytest.fixture
def viewer(client: Client, vera: User) -> Client:
    client.force_login(vera)
    return client


def numbered(report_id: str) -> Deployment:
    return Deployment.objects.get(report_id=report_id)


def read(client: Client, deployment: Deployment) -> str:
    answer = client.get(f"/deployments/{deployment.slug}/")
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def test_it_says_first_whether_it_may_be_used_and_why_not(viewer: Client) -> None:
    assert "Not primary because: 100K ends part way (MLX 27B) –" in read(viewer, numbered("B4"))
    assert "Primary: default agent route – as reported" in read(viewer, numbered("A1"))
    assert "Unreviewed: nobody has decided" in read(viewer, numbered("D4"))


def test_it_shows_the_exact_configuration(viewer: Client) -> None:
    page = read(viewer, numbered("A1"))
    assert "1\u202f048\u202f576\u202ftokens" in page
    assert numbered("A1").revisions.get().fingerprint[:12] in page
    assert "Proxy admission" in read(viewer, numbered("A2"))
    assert "1 to 2" in read(viewer, numbered("A2"))


def test_imported_figures_are_marked_with_the_reports_date(viewer: Client) -> None:
    page = read(viewer, numbered("A1"))
    assert "report of 2026-07-22; shown, never counted" in page
    assert "97.4\u202fs" in page
    assert "~\u202f35–43\u202ftok/s" in page
    assert "8/8" in page
    assert "Historical baseline" in page
    assert "By server metric; not equal to proxy wall time" in page


def test_without_an_endpoint_it_says_who_can_add_one(
    client: Client, vera: User, olive: User, ada: User
) -> None:
    for person in (vera, olive):
        client.force_login(person)
        page = read(client, numbered("A1"))
        assert "No endpoint, so it cannot be probed. An admin can add one." in page
        assert "/endpoints/new/" not in page
    client.force_login(ada)
    assert "/endpoints/new/" in read(client, numbered("A1"))


def test_probe_is_offered_to_those_who_may_start_runs(
    client: Client, vera: User, olive: User, abel: User
) -> None:
    deployment = numbered("A1")
    add_endpoint(deployment)
    button = f'href="/runs/start/?deployment={deployment.slug}"'
    client.force_login(vera)
    assert button not in read(client, deployment)
    for person in (olive, abel):
        client.force_login(person)
        assert button in read(client, deployment)


def test_recent_runs_say_outcome_and_revision(viewer: Client) -> None:
    deployment = numbered("A1")
    run = add_run(deployment, outcome=Outcome.FAIL, explanation="<i>closed</i> early")
    page = viewer.get(f"/deployments/{deployment.slug}/").content.decode()
    assert f"/runs/{run.pk}/" in page
    assert "outcome-fail" in page
    assert "&lt;i&gt;closed&lt;/i&gt; early" in page


def test_the_proof_of_identity_comes_from_the_last_run(viewer: Client) -> None:
    deployment = numbered("A1")
    assert "identity never probed" in read(viewer, deployment)
    run = add_run(deployment)
    Run.objects.filter(pk=run.pk).update(
        report={"identity_after": {"level": 4, "sentence": "File and digest agree."}}
    )
    page = read(viewer, deployment)
    assert "identity confirmed by file and digest" in page
    assert "File and digest agree." in page


def test_follow_ups_and_history_are_there(viewer: Client) -> None:
    page = read(viewer, numbered("A1"))
    assert "65K x 8 as well as 32K x 8" in page
    assert "field report, 2026-07-22" in page
    assert "Revision 1, active" in page


@pytest.mark.parametrize("slug", ["nothing", "x" * 200])
def test_an_unknown_deployment_is_not_found(viewer: Client, slug: str) -> None:
    assert viewer.get(f"/deployments/{slug}/").status_code == 404


def test_it_asks_the_database_a_fixed_number_of_times(
    viewer: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    deployment = numbered("A1")
    for _ in range(9):
        add_run(deployment, {})
    with django_assert_max_num_queries(30):
        read(viewer, deployment)
