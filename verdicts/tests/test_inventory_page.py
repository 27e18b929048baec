from __future__ import annotations

import csv
import html
import re
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from catalog.models import Artifact, Deployment, Host, ImportedFigure, Revision, Runtime
from catalog.runtimes import ensure_build
from people.models import User
from runs.models import Outcome
from verdicts.models import Verdict
from verdicts.tests.lab import add_run

QUERIES = 18  # four of them for the gate dots of all rows: runs, campaigns, traffic, policies


@pytest.fixture
def report(db: None) -> None:
    call_command("load_report", verbosity=0)


@pytest.fixture
def viewer(client: Client, vera: User) -> Client:
    client.force_login(vera)
    return client


def read(client: Client, address: str = "/", **headers: Any) -> str:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def shown(page: str) -> list[str]:
    return re.findall(r'<tr data-href="/deployments/([^/]+)/"', page)


def tiles(page: str) -> list[int]:
    return [int(count) for count in re.findall(r'class="tile-count">(\d+)<', page)]


def test_an_empty_inventory_says_what_to_do_first(client: Client, olive: User, vera: User) -> None:
    client.force_login(vera)
    assert "An operator can register one." in read(client)
    client.force_login(olive)
    assert "Register a deployment</a>" in read(client)


def test_the_first_screen_counts_what_may_be_relied_on(viewer: Client, report: None) -> None:
    page = read(viewer)
    assert tiles(page) == [4, 8, 2, 7, 1]
    assert len(shown(page)) == 22
    assert "p8 · 8×131K · F16" in page
    assert "default agent route" in page
    assert "100K ends part way (MLX 27B)" in page


def test_a_viewer_sees_no_way_to_register(client: Client, vera: User, report: None) -> None:
    client.force_login(vera)
    assert "/deployments/new/" not in read(client)


def test_filters_live_in_the_address(viewer: Client, report: None) -> None:
    page = read(viewer, "/?verdict=rejected&runtime=vllm-metal&q=qwen")
    assert len(shown(page)) == 3
    assert "Verdict: Rejected" in page
    assert 'value="rejected" checked' in page
    assert "3</strong> of 22" in page


def test_nothing_found_offers_everything(viewer: Client, report: None) -> None:
    page = read(viewer, "/?q=nonesuch")
    assert "Nothing matches these filters" in page
    assert 'href="/">Show everything' in page


def test_htmx_gets_the_results_alone_and_the_address_for_the_bar(
    viewer: Client, report: None
) -> None:
    answer = viewer.get("/?verdict=blocked&q=&sort=", headers={"HX-Request": "true"})
    part = answer.content.decode()
    assert "<html" not in part
    assert len(shown(part)) == 2
    assert 'hx-swap-oob="true"' in part
    assert answer["HX-Push-Url"] == "/?verdict=blocked"
    assert "HX-Request" in answer["Vary"]


def test_going_back_gets_the_whole_page(viewer: Client, report: None) -> None:
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in viewer.get("/", headers=headers).content.decode()


def test_the_matrix_shows_every_deployment_with_its_verdict(viewer: Client, report: None) -> None:
    page = read(viewer, "/?view=matrix")
    assert len(re.findall(r'<a class="cell verdict-', page)) == 22
    assert ">vllm-metal</th>" in page


def test_figures_come_from_runs_with_their_count_and_never_from_a_report(
    viewer: Client, report: None
) -> None:
    assert ImportedFigure.objects.filter(metric="decode_tps").exists()
    assert ">n=" not in read(viewer)
    deployment = Deployment.objects.get(report_id="A1")
    add_run(deployment, {"ttft_ms": 812.0}, {"ttft_ms": 812.0})
    page = read(viewer)
    assert "812\u202fms" in page
    assert "n=2" in page
    assert "40\u202ftok/s" in page
    assert "Clean pass" in page


def test_the_last_finished_run_is_shown(viewer: Client, report: None) -> None:
    deployment = Deployment.objects.get(report_id="A1")
    add_run(deployment)
    last = add_run(deployment, outcome=Outcome.FAIL)
    add_run(deployment, state="queued", outcome="", finished_at=None)
    page = read(viewer)
    assert f"/runs/{last.pk}/" in page
    assert "outcome-fail" in page


def test_the_newest_verdict_holds(viewer: Client, report: None) -> None:
    Verdict.objects.create(
        deployment=Deployment.objects.get(report_id="A1"),
        state="blocked",
        reason="<b>leaks</b>",
        author_name="Abel",
        decided_at=timezone.now(),
    )
    page = viewer.get("/").content.decode()
    assert tiles(page) == [3, 8, 3, 7, 1]
    assert "&lt;b&gt;leaks&lt;/b&gt;" in page


def test_archived_deployments_are_hidden_until_asked_for(viewer: Client, report: None) -> None:
    Deployment.objects.filter(report_id="A1").update(is_archived=True)
    assert len(shown(read(viewer))) == 21
    assert len(shown(read(viewer, "/?archived=1"))) == 22


def test_csv_holds_the_rows_shown_on_all_pages(viewer: Client, report: None) -> None:
    Artifact.objects.filter(deployments__report_id="A1").update(name="=HYPERLINK(evil)")
    answer = viewer.get("/?verdict=primary&export=csv")
    text = answer.getvalue().decode()
    lines = list(csv.DictReader(text.splitlines()))
    assert len(lines) == 4
    assert {line["verdict"] for line in lines} == {"primary"}
    assert "'=HYPERLINK(evil)" in {line["model"] for line in lines}
    assert {line["ttft_median_ms"] for line in lines} == {""}


def test_nonsense_in_the_address_does_no_harm(viewer: Client, report: None) -> None:
    address = "/?page=-7&sort=%27;drop&view=x&verdict=%00&q=" + "x" * 5000
    assert viewer.get(address).status_code == 200
    assert viewer.post("/").status_code == 405


@pytest.fixture
def two_thousand(report: None) -> None:
    """Report and 2,000 more, each with a revision and every other one with a verdict."""
    runtime, host = Runtime.objects.get(key="llama.cpp"), Host.objects.get()
    build = ensure_build(runtime, "b1")
    artifacts = Artifact.objects.bulk_create(
        Artifact(name=f"Model {n}", family="Model", size_label="27B", format="GGUF")
        for n in range(2000)
    )
    deployments = Deployment.objects.bulk_create(
        Deployment(slug=f"m{n}", canonical_route=f"m{n}", artifact=a, runtime=runtime, host=host)
        for n, a in enumerate(artifacts)
    )
    Revision.objects.bulk_create(
        Revision(deployment=d, number=1, runtime_build=build, fingerprint="f") for d in deployments
    )
    Verdict.objects.bulk_create(
        Verdict(deployment=d, state="candidate", author_name="x", decided_at=timezone.now())
        for d in deployments[::2]
    )


def test_two_thousand_rows_are_paged_and_counted(
    viewer: Client, two_thousand: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(QUERIES):
        page = read(viewer, "/?q=model&page=3")
    assert len(shown(page)) == 50
    assert "101–150 of 2000" in page
    assert tiles(page) == [0, 1000, 0, 0, 1000]
    assert "q=model&page=4" in page


def test_the_matrix_of_two_thousand_stays_small(viewer: Client, two_thousand: None) -> None:
    page = read(viewer, "/?view=matrix")
    assert "1994 more" in page
    assert len(page) < 100_000


def test_twenty_two_rows_ask_as_little_as_one(
    viewer: Client, report: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for deployment in Deployment.objects.all():
        add_run(deployment, {})
    with django_assert_max_num_queries(QUERIES):
        assert len(shown(read(viewer))) == 22
