"""Campaigns in the browser and through the API: what is shown, and what a person may do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Deployment
from people.models import User
from runs.campaigns.models import Campaign
from runs.campaigns.tests.conftest import World
from runs.claims import Ending

Begin = Callable[..., Campaign]


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


@pytest.fixture
def viewer(client: Client, vera: User) -> Client:
    client.force_login(vera)
    return client


def test_it_says_how_it_stands_and_what_would_fail_it(
    world: World, begin: Begin, viewer: Client
) -> None:
    soak = begin("soak")
    world.live(soak, 3)
    world.live(soak, 1, Ending("fail", "http_5xx", "500 <b>came</b> back."))
    html = page(viewer, f"/campaigns/{soak.pk}/")
    assert "Running; the last 1 without a clean pass" in html
    assert "Cycles in a row without a clean pass: 2 more." in html
    assert "cycle-fail" in html and "cycle-open" in html
    assert "500 &lt;b&gt;came" in html, "what a server says is never trusted"
    assert "Pause" not in html, "a viewer only looks"
    near = page(viewer, f"/campaigns/{soak.pk}/?from=3&to=3")
    assert "http_5xx" in near
    assert "1 failed" in page(viewer, "/campaigns/")
    assert "Seven-day soak" in page(viewer, "/campaigns/wall/")
    assert "No campaign matches" in page(viewer, "/campaigns/?state=passed")


def test_a_rehearsal_says_so_on_every_page(world: World, begin: Begin, viewer: Client) -> None:
    trial = begin("canary", rehearsal_s=120, cycle_s=60)
    world.live(trial, 2)
    for path in ("/campaigns/", "/campaigns/wall/", f"/campaigns/{trial.pk}/"):
        assert "rehearsal" in page(viewer, path).lower()
    assert "satisfies no gate" in page(viewer, f"/campaigns/{trial.pk}/")


def test_an_operator_starts_pauses_extends_and_ends_one(
    client: Client, olive: User, deployment: Deployment, world: World
) -> None:
    client.force_login(olive)
    address = f"/campaigns/new/?deployment={deployment.slug}&kind=soak"
    assert "Start a campaign" in page(client, address)
    form = {"deployment": deployment.slug, "kind": "canary", "layer": "direct", "basis": "chat",
            "profile": "steady", "rehearsal_min": "10"}  # fmt: skip
    shown = client.post("/campaigns/new/", form, follow=True).content.decode()
    campaign = Campaign.objects.get()
    assert campaign.is_rehearsal and "Time line" in shown
    again = client.post("/campaigns/new/", form)
    assert (again.status_code, "is open already" in again.content.decode()) == (422, True)
    client.post(f"/campaigns/{campaign.pk}/extend/", {"hours": "0.5"})
    client.post(f"/campaigns/{campaign.pk}/pause/")
    client.post(f"/campaigns/{campaign.pk}/end/", {"reason": "Enough seen."})
    campaign.refresh_from_db()
    assert (campaign.state, campaign.terms["duration_s"]) == ("ended", 2400)
    assert "Enough seen." in campaign.explanation


def test_a_whole_soak_is_shown_with_few_questions_to_the_database(
    world: World,
    begin: Begin,
    viewer: Client,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    soak = begin("soak")
    world.skip_quietly(soak, 1000)
    with django_assert_max_num_queries(16):
        html = page(viewer, f"/campaigns/{soak.pk}/")
    assert html.count('class="cycle cycle-') < 200
    csv = viewer.get(f"/campaigns/{soak.pk}/charts/memory.csv")
    assert csv.status_code in (200, 404)


def test_programs_start_and_read_them(
    client: Client, olive: User, deployment: Deployment, world: World
) -> None:
    client.force_login(olive)
    body = {"deployment": deployment.slug, "kind": "gate", "rehearsal_s": 600}
    made = client.post("/api/v1/campaigns/", body, content_type="application/json")
    assert made.status_code == 201, made.content
    number = made.json()["id"]
    refused = client.post("/api/v1/campaigns/", body, content_type="application/json")
    assert (refused.status_code, "open already" in refused.json()["detail"]) == (409, True)
    told = client.get(f"/api/v1/campaigns/{number}/standing/").json()
    assert (told["coverage"], told["verdict"]) == (None, "")
    assert told["would_fail_now"][-1].endswith("at once.")
    ended = client.post(f"/api/v1/campaigns/{number}/end/", {}, content_type="application/json")
    assert ended.json()["state"] == "ended"
    notes = client.get(f"/api/v1/campaign-notes/?campaign={number}").json()["results"]
    assert [note["kind"] for note in notes] == ["finished", "started"]
