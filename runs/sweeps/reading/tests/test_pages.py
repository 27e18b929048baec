"""A sweep's reading on its page and through the API, and a report's figures beside them."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from catalog.models import Deployment
from people.models import User
from runs.sweeps.models import CellState, Sweep, SweepState
from runs.sweeps.reading.tests.test_reading import scaled
from runs.sweeps.tests.conftest import Make
from runs.sweeps.tests.conftest import allowed as allowed
from runs.sweeps.tests.conftest import demo_profile as demo_profile
from runs.sweeps.tests.conftest import deployment as deployment
from runs.sweeps.tests.conftest import make_sweep as make_sweep
from runs.sweeps.tests.conftest import needs_demo as needs_demo
from runs.sweeps.tests.conftest import profiles as profiles
from runs.sweeps.tests.conftest import rung as rung
from runs.sweeps.tests.conftest import served as served

REST: dict[str, Any] = {
    "end_ms": None, "requests_per_s": None, "errors": {}, "retained_bytes": None,
    "prompt_tokens": 300, "concurrency_achieved": 4, "origins": {},
}  # fmt: skip


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def measured(make_sweep: Make) -> Sweep:
    """p1 and p2 at four clients: more slots, as much throughput, a worse TTFT."""
    sweep = make_sweep(grid={"runtime_parallel": (1, 2), "client_concurrency": (4,)})
    for cell in sweep.cells.all():
        ttft = {1: 10_000.0, 2: 15_000.0}[cell.runtime_parallel or 0]
        figures = scaled(cell.runtime_parallel or 0, ttft=ttft, tps=40).figures
        cell.figures = {**REST, **figures}
        cell.state, cell.outcome = CellState.DONE, "clean_pass"
        cell.save()
    Sweep.objects.filter(pk=sweep.pk).update(state=SweepState.FINISHED)
    return sweep


def test_the_page_says_it_in_a_sentence_and_draws_what_can_be_downloaded(
    client: Client, vera: User, measured: Sweep
) -> None:
    client.force_login(vera)
    html = page(client, f"/sweeps/{measured.pk}/")
    assert "p2 completes 4 of 4" in html
    assert "TTFT 50 % worse than p1" in html
    assert "Worse in parallel." in html
    by_clients = page(client, f"/sweeps/{measured.pk}/?by=clients")
    assert "client concurrency (requests open)" in by_clients
    csv = client.get(f"/sweeps/{measured.pk}/charts/ttft.csv?by=parallel")
    assert b"runtime parallel (slots)" in csv.content
    assert client.get(f"/sweeps/{measured.pk}/charts/nothing.csv").status_code == 404


def test_programs_read_it_too(client: Client, vera: User, measured: Sweep) -> None:
    client.force_login(vera)
    told = client.get(f"/api/v1/sweeps/{measured.pk}/reading/").json()
    assert "throughput no different" in told["sentences"][0]
    assert len(told["regressions"]) == 1
    assert told["places"][1]["scaling_efficiency"] == 0.5
    cells = client.get(f"/api/v1/sweep-cells/?sweep={measured.pk}").json()["results"]
    assert len(cells) == 2


def test_programs_start_and_cancel_sweeps(
    client: Client, olive: User, served: Deployment, rung: list[int]
) -> None:
    client.force_login(olive)
    body = {"deployment": served.slug, "client_concurrency": [1, 2]}
    made = client.post("/api/v1/sweeps/", body, content_type="application/json")
    assert made.status_code == 201, made.content
    number = made.json()["id"]
    ended = client.post(f"/api/v1/sweeps/{number}/cancel/")
    assert ended.json()["state"] == "cancelled"
    wrong = {**body, "runtime_parallel": [2]}
    refused = client.post("/api/v1/sweeps/", wrong, content_type="application/json")
    assert refused.status_code == 409


@pytest.mark.django_db
def test_a_reports_figures_over_parallel_are_shown_as_imported(client: Client, vera: User) -> None:
    call_command("load_report", verbosity=0)
    client.force_login(vera)
    found = {
        slug: page(client, f"/sweeps/?deployment={slug}")
        for slug in Deployment.objects.filter(figures__isnull=False).values_list("slug", flat=True)
    }
    drawn = [html for html in found.values() if "Imported from the report" in html]
    assert any("p1 215.1 s, p2 323.3 s" in html for html in drawn)
    assert any("p1 17.97 s, p2 32.96 s, p4 55.08 s" in html for html in drawn)
    assert all("Nothing of it was measured here." in html for html in drawn)
