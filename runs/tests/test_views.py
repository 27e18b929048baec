"""Each page, for each role, and with addresses that somebody made up."""

from __future__ import annotations

import csv
import io
import socket
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from catalog.models import Deployment, Endpoint, Revision
from people.models import User
from runs import claims
from runs.engine.records import Tokens
from runs.executor import execute
from runs.models import Run, RunEvent, Suite
from runs.services import ensure_default_suites
from runs.storage import store_requests
from runs.tests.scripted import clean_engine, request_result

MakeRun = Callable[..., Run]


@pytest.fixture
def operator(client: Client, olive: User) -> Client:
    client.force_login(olive)
    return client


@pytest.fixture
def viewer(client: Client, vera: User) -> Client:
    client.force_login(vera)
    return client


@pytest.fixture
def finished(transactional_db: None, make_run: MakeRun, rung: list[int]) -> Run:
    run = make_run()
    execute(run.pk, worker="w1", engine=clean_engine)
    run.refresh_from_db()
    return run


def plan_url(deployment: Deployment, **more: str) -> str:
    query = "&".join(f"{name}={value}" for name, value in more.items())
    return f"{reverse('run-start')}?deployment={deployment.slug}&{query}"


@pytest.mark.django_db
def test_nobody_sees_a_run_without_signing_in(client: Client, make_run: MakeRun) -> None:
    run = make_run()
    for url in (reverse("run-list"), f"/runs/{run.pk}/", f"/runs/{run.pk}/events/"):
        answer = client.get(url)
        assert answer.status_code == 302
        assert "/login/" in answer["Location"]


def test_an_operator_plans_and_starts(
    operator: Client, deployment: Deployment, suite: Suite, rung: list[int]
) -> None:
    page = operator.get(plan_url(deployment, suite="smoke")).content.decode()
    assert "http://127.0.0.1:9/v1" in page
    assert "smollm2.gguf" in page
    assert "manage.py probe smollm2" in page
    assert Run.objects.count() == 0

    values = {"deployment": deployment.slug, "suite": "smoke", "layer": "direct", "note": "first"}
    answer = operator.post(reverse("run-start"), values)
    run = Run.objects.get()
    assert answer["Location"] == reverse("run-detail", args=[run.pk])
    assert run.note == "first"


def test_a_viewer_starts_cancels_and_repeats_nothing(
    viewer: Client, deployment: Deployment, suite: Suite, make_run: MakeRun
) -> None:
    run = make_run()
    assert viewer.get(plan_url(deployment)).status_code == 403
    values = {"deployment": deployment.slug, "suite": "smoke", "layer": "direct"}
    assert viewer.post(reverse("run-start"), values).status_code == 403
    assert viewer.post(reverse("run-cancel", args=[run.pk])).status_code == 403
    assert viewer.post(reverse("run-repeat", args=[run.pk])).status_code == 403
    assert Run.objects.get().state == "queued"
    page = viewer.get(reverse("run-detail", args=[run.pk])).content.decode()
    assert reverse("run-cancel", args=[run.pk]) not in page


def test_the_plan_says_what_stands_in_the_way(
    operator: Client, deployment: Deployment, suite: Suite
) -> None:
    page = operator.get(plan_url(deployment)).content.decode()
    assert "No worker is alive for Lab mini" in page
    assert "cannot be reached from here" in page
    Endpoint.objects.update(is_active=False)
    page = operator.get(plan_url(deployment)).content.decode()
    assert "has no direct endpoint" in page
    assert "disabled" in page


def test_the_plan_sees_an_open_port(
    operator: Client, deployment: Deployment, suite: Suite
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        Endpoint.objects.update(base_url=f"http://127.0.0.1:{port}/v1")
        page = operator.get(plan_url(deployment)).content.decode()
    assert "port is open" in page


def test_a_refused_start_says_why_and_keeps_the_page(
    operator: Client, deployment: Deployment, suite: Suite
) -> None:
    Revision.objects.update(is_active=False)
    values = {"deployment": deployment.slug, "suite": "smoke", "layer": "direct"}
    answer = operator.post(reverse("run-start"), values)
    assert answer.status_code == 409
    assert "no active revision" in answer.content.decode()
    assert not Run.objects.exists()


@pytest.mark.parametrize("query", ["", "deployment=nope", "deployment=smollm2&suite=nope"])
def test_a_plan_of_what_is_not_there_is_not_found(
    operator: Client, deployment: Deployment, suite: Suite, query: str
) -> None:
    assert operator.get(f"{reverse('run-start')}?{query}").status_code == 404


def test_a_queued_run_shows_the_live_page(viewer: Client, make_run: MakeRun) -> None:
    run = make_run()
    page = viewer.get(reverse("run-detail", args=[run.pk])).content.decode()
    assert f'data-socket="/ws/runs/{run.pk}/"' in page
    assert "none is alive for Lab mini" in page


def test_a_finished_run_shows_its_result(finished: Run, viewer: Client) -> None:
    page = viewer.get(reverse("run-detail", args=[finished.pk])).content.decode()
    assert "Clean pass" in page
    assert "timing artifact" in page
    assert reverse("request-detail", args=[finished.pk, 0]) in page
    assert "style=" not in page
    assert reverse("run-repeat", args=[finished.pk]) not in page


def test_a_request_shows_what_was_on_the_wire(finished: Run, viewer: Client) -> None:
    page = viewer.get(reverse("request-detail", args=[finished.pk, 0])).content.decode()
    assert "12.5" in page
    assert "fresh prompt" in page
    assert "Paris" in page
    assert viewer.get(reverse("request-detail", args=[finished.pk, 7])).status_code == 404


def test_what_a_model_says_never_becomes_markup(finished: Run, viewer: Client) -> None:
    row = finished.requests.get()
    row.record["answer"] = row.record["excerpt"] = "<script>alert(1)</script>"
    row.explanation = "<img src=x onerror=alert(1)>"
    row.save()
    for url in (f"/runs/{finished.pk}/", f"/runs/{finished.pk}/requests/0/"):
        page = viewer.get(url).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_an_interrupted_run_shows_what_was_recorded_and_a_way_on(
    operator: Client, make_run: MakeRun
) -> None:
    run = make_run(state="finished", outcome="inconclusive", failure_class="interrupted")
    page = operator.get(reverse("run-detail", args=[run.pk])).content.decode()
    assert "Inconclusive" in page
    assert "Run again" in page


@pytest.mark.django_db
def test_repeating_links_the_runs(operator: Client, make_run: MakeRun, rung: list[int]) -> None:
    first = make_run(state="finished", outcome="fail")
    answer = operator.post(reverse("run-repeat", args=[first.pk]))
    again = Run.objects.get(repeats=first)
    assert answer["Location"] == reverse("run-detail", args=[again.pk])
    page = operator.get(reverse("run-detail", args=[first.pk])).content.decode()
    assert reverse("run-detail", args=[again.pk]) in page


def test_cancelling_what_is_over_says_so(operator: Client, make_run: MakeRun) -> None:
    run = make_run(state="finished", outcome="fail")
    answer = operator.post(reverse("run-cancel", args=[run.pk]), follow=True)
    assert "over already" in answer.content.decode()


def test_actions_need_a_post(operator: Client, make_run: MakeRun) -> None:
    run = make_run()
    assert operator.get(reverse("run-cancel", args=[run.pk])).status_code == 405
    assert operator.get(reverse("run-repeat", args=[run.pk])).status_code == 405


def test_the_fallback_answers_the_same_page_as_the_socket(
    viewer: Client, make_run: MakeRun
) -> None:
    run = make_run()
    claims.claim(run.pk, worker="w1")
    for seq in (1, 2, 3):
        RunEvent.objects.create(run=run, seq=seq, t_ms=seq, kind="note", payload={"text": "x"})
    page = viewer.get(reverse("run-events", args=[run.pk]), {"after": "1"}).json()
    assert [event["seq"] for event in page["events"]] == [2, 3]
    assert (page["last"], page["is_ended"], page["status"]["state"]) == (3, False, "running")


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "9" * 30, "²"])
def test_the_fallback_refuses_nonsense(viewer: Client, make_run: MakeRun, after: str) -> None:
    run = make_run()
    answer = viewer.get(reverse("run-events", args=[run.pk]), {"after": after})
    assert answer.status_code == 400
    assert viewer.get("/runs/404/events/").status_code == 404


def test_the_list_holds_its_filters_in_the_address(viewer: Client, make_run: MakeRun) -> None:
    passed = make_run(state="finished", outcome="clean_pass")
    failed = make_run(state="finished", outcome="fail", failure_class="marker_mismatch")
    page = viewer.get(reverse("run-list"), {"outcome": "fail"}).content.decode()
    assert f"#{failed.pk}<" in page
    assert f"#{passed.pk}<" not in page
    nothing = viewer.get(reverse("run-list"), {"deployment": "other"}).content.decode()
    assert "No run matches" in nothing
    assert "No run matches" in viewer.get(reverse("run-list"), {"state": "?"}).content.decode()


@pytest.mark.django_db
def test_an_empty_list_says_what_to_do_first(viewer: Client) -> None:
    assert "No runs yet" in viewer.get(reverse("run-list")).content.decode()


def test_the_list_comes_as_csv_without_formulas(viewer: Client, make_run: MakeRun) -> None:
    make_run(requested_by_name="=HYPERLINK(1)")
    answer = viewer.get(reverse("run-list"), {"format": "csv"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert rows[0]["deployment"] == "smollm2"
    assert rows[0]["requested_by"] == "'=HYPERLINK(1)"


def test_a_long_list_costs_no_query_a_run(
    viewer: Client, make_run: MakeRun, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(30):
        make_run(state="finished", outcome="clean_pass")
    with django_assert_max_num_queries(14):
        viewer.get(reverse("run-list"))


def test_a_runs_requests_come_as_csv(finished: Run, viewer: Client) -> None:
    answer = viewer.get(reverse("request-list", args=[finished.pk]))
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (row["ttft_ms"], row["decode_tps"], row["cache"]) == ("12.5", "", "fresh")


def test_a_fresh_prompt_stands_beside_its_exact_repeat(viewer: Client, make_run: MakeRun) -> None:
    run = make_run(state="finished", outcome="clean_pass")
    fresh = request_result(0, check="repeat")
    repeat = request_result(1, check="repeat", cache="repeat", tokens=Tokens(9, 3, None, 8))
    store_requests(run.pk, [fresh.as_dict(), repeat.as_dict()])
    for index in (0, 1):
        page = viewer.get(reverse("request-detail", args=[run.pk, index])).content.decode()
        assert "1. Fresh prompt" in page
        assert "2. Exact repeat" in page


def test_a_pooling_model_is_first_offered_what_it_can_do(
    operator: Client, deployment: Deployment
) -> None:
    ensure_default_suites()
    deployment.artifact.task = "embedding"
    deployment.artifact.save()
    page = operator.get(plan_url(deployment)).content.decode()
    assert '<option value="pooling" selected>' in page
    fitting, _, others = page.partition('<optgroup label="Not made for this model">')
    assert 'value="smoke"' in others
    assert 'value="rerank-pooling"' in others
    assert 'value="smoke"' not in fitting
