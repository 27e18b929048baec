from __future__ import annotations

import csv
import io
from datetime import datetime

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Deployment
from people.models import User
from runs.traffic.histogram import add, percentile
from runs.traffic.models import Hour, Record
from runs.traffic.selectors import slowest
from runs.traffic.services import ingest
from runs.traffic.tests.conftest import Line


@pytest.fixture
def viewer(client: Client, vera: User) -> Client:
    client.force_login(vera)
    return client


@pytest.fixture
def reported(olive: User, deployment: Deployment, line: Line) -> None:
    """An hour with 40 requests, of which some went wrong, and nothing after it."""
    lines = [line(n, minute=n, ttft_ms=100.0 + n) for n in range(36)]
    lines += [
        line(36, minute=50, status=503, error="<script>alert(1)</script>"),
        line(37, minute=51, finish_reason=None),
        line(38, minute=52, finish_reason="length"),
        line(39, minute=53, route="nobody"),
    ]
    ingest(actor=olive, deployment=deployment, layer="proxy", source="nginx", lines=lines)


def test_a_deployment_shows_counts_gaps_percentiles_and_the_worst(
    viewer: Client, deployment: Deployment, reported: None, hour: datetime
) -> None:
    address = f"/traffic/deployments/{deployment.slug}/?days=1"
    page = viewer.get(address).content.decode()
    assert "36 of 38 decided requests completed (94.74%); 1 more cannot be judged" in page
    assert "23 of 24 hours have no report" in page
    assert "No finish reason" in page
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page
    assert "Upload a file" not in page
    rows = list(csv.DictReader(io.StringIO(viewer.get(f"{address}&csv=hours").content.decode())))
    this = {row["series"]: row["y"] for row in rows if row["x"] == f"{hour:%Y-%m-%d %H:%M}"}
    assert (this["Completed"], this["Not completed"], this["Undecided"]) == (
        "36.0", "2.0", "1.0",
    )  # fmt: skip
    assert float(this["TTFT p50"]) == pytest.approx(117, rel=0.01)
    gaps = [row for row in rows if row["series"] == "No report"]
    assert len(gaps) == 23 and {row["y"] for row in gaps} == {""}
    assert [record.ttft_ms for record in slowest(Hour.objects.all(), 3)] == [135, 134, 133]


def test_requests_are_paged_and_filtered_in_the_address(
    viewer: Client, deployment: Deployment, reported: None
) -> None:
    address = f"/traffic/deployments/{deployment.slug}/"
    first = viewer.get(address)
    assert len(first.context["records"]) == 25
    second = viewer.get(f"{address}?{first.context['older']}")
    assert len(second.context["records"]) == 14 and "older" not in second.context
    failed = viewer.get(f"{address}?outcome=fail").context["records"]
    assert [record.external_id for record in failed] == ["r36"]
    assert viewer.get(f"{address}?before=nonsense").status_code == 404
    told = viewer.get(f"{address}?format=csv&outcome=degraded").content.decode()
    assert told.count("\n") == 2 and "missing_finish_reason" in told


def test_an_uploaded_file_leads_to_what_became_of_it(
    client: Client, olive: User, deployment: Deployment, line: Line
) -> None:
    client.force_login(olive)
    given = {"deployment": deployment.slug, "layer": "proxy", "source": "nginx"}
    file = SimpleUploadedFile("records.ndjson", line(1) + b"[]\n")
    page = client.post("/traffic/upload/", given | {"file": file}, follow=True)
    told = page.content.decode()
    assert page.redirect_chain and "Not a JSON object" in told and Record.objects.count() == 1
    lacking = client.post("/traffic/upload/", given)
    assert lacking.status_code == 422 and "open" in lacking.content.decode()


def test_pages_ask_the_database_as_often_however_much_there_is(
    viewer: Client,
    olive: User,
    deployment: Deployment,
    reported: None,
    line: Line,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    more = [line(n, minute=-60 * (n % 20)) for n in range(100, 160)]
    for source in ("a", "b", "c"):
        ingest(actor=olive, deployment=deployment, layer="proxy", source=source, lines=more)
    with django_assert_max_num_queries(11):  # one of them: whether the ledger is whole
        viewer.get("/traffic/")
    with django_assert_max_num_queries(15):
        viewer.get(f"/traffic/deployments/{deployment.slug}/")


def test_percentiles_from_counts_are_true_to_a_hundredth() -> None:
    values = [1.5 * 1.01**n for n in range(1000)]
    counts = add(add({}, values[:300]), values[300:])
    for share in (0.01, 0.5, 0.95, 1.0):
        exact = values[int(share * 1000) - 1]
        assert percentile(counts, share) == pytest.approx(exact, rel=0.01)
    assert percentile({}, 0.5) is None


def test_an_hour_is_split_at_a_new_revision_and_drawn_as_one(
    viewer: Client, olive: User, deployment: Deployment, line: Line, hour: datetime
) -> None:
    lines = [line(1, minute=10), line(2, minute=45), line(3, minute=46, status=500)]
    ingest(actor=olive, deployment=deployment, layer="gateway", source="x", lines=lines)
    assert Hour.objects.count() == 2
    page = viewer.get(f"/traffic/deployments/{deployment.slug}/?layer=gateway&days=1")
    slot = next(s for s in page.context["chart"].table.rows if s[0] == f"{hour:%Y-%m-%d %H:%M}")
    assert slot[1:4] == [2, 1, 0]
    assert page.context["classes"] == [("http_5xx", "fail", 1)]
