"""The ledger's page, its export and its API."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from people.models import User
from verdicts.ledger import export
from verdicts.ledger.models import Entry, Verification
from verdicts.ledger.services import append, verify_ledger
from verdicts.ledger.tests.making import fill, tamper
from verdicts.models import Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(client: Client, vera: User) -> Client:
    client.force_login(vera)
    return client


def shown(client: Client, query: str) -> list[int]:
    return [entry.seq for entry in client.get(f"/ledger/{query}").context["entries"]]


def test_its_filters_stand_in_the_address(viewer: Client, olive: User) -> None:
    fill(2, olive)
    fill(1, deployment="other")
    long_ago = datetime(2025, 3, 9, 23, 59, tzinfo=UTC)
    append(
        kind="policy",
        actor=None,
        subject_kind="policy",
        subject_id=1,
        title="Policy",
        at=long_ago,
        payload={},
    )
    today = timezone.now().date()
    assert shown(viewer, "") == [4, 3, 2, 1]
    assert shown(viewer, "?person=olive") == [2, 1]
    assert shown(viewer, "?kind=policy") == [4]
    assert shown(viewer, "?deployment=other") == [3]
    assert shown(viewer, "?text=MODEL+2") == [2]
    assert shown(viewer, "?until=2025-03-09") == [4]
    assert shown(viewer, f"?since=2025-03-10&until={today + timedelta(days=1)}") == [3, 2, 1]
    for nobody in ("?person=eve", "?kind=nonsense", "?since=soon", "?text=%00"):
        assert shown(viewer, nobody) == []
    assert "No entry matches" in viewer.get("/ledger/?kind=nonsense").content.decode()


def test_its_pages_go_on_where_the_last_one_ended_while_it_grows(
    viewer: Client, olive: User
) -> None:
    fill(60, olive)
    first = viewer.get("/ledger/?person=olive")
    fill(5, olive)
    older = first.context["older"]
    assert older == "?person=olive&before=11"
    page = viewer.get(f"/ledger/{older}")
    assert [entry.seq for entry in page.context["entries"]] == list(range(10, 0, -1))
    assert page.context["older"] is None
    assert 'href="?person=olive">Newest' in page.content.decode()
    assert viewer.get("/ledger/?before=x").status_code == 404


def test_it_asks_the_database_a_fixed_number_of_times(
    viewer: Client, olive: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    fill(55, olive)
    with django_assert_max_num_queries(9):
        viewer.get("/ledger/")


def test_an_entry_opens_to_what_was_recorded_escaped_and_to_the_one_before(
    viewer: Client, olive: User
) -> None:
    fill(2, olive)
    page = viewer.get("/ledger/2/").content.decode()
    assert "Größe 131K &lt;b&gt;" in page
    assert "<b>" not in page
    assert 'href="/ledger/1/"' in page
    assert Entry.objects.get(seq=2).entry_hash in page
    assert viewer.get("/ledger/3/").status_code == 404


def test_whoever_may_verifies_it_from_the_page_and_others_do_not(
    viewer: Client, olive: User
) -> None:
    fill(3, olive)
    assert "was not verified yet" in viewer.get("/ledger/").content.decode()
    assert viewer.post("/ledger/verify/").status_code == 403
    assert not Verification.objects.exists()
    viewer.force_login(olive)
    done = viewer.post("/ledger/verify/", follow=True).content.decode()
    assert "3 entries verified" in done


def test_a_broken_ledger_is_told_on_every_page_to_those_signed_in(viewer: Client) -> None:
    fill(2)
    tamper("UPDATE ledger_entry SET title = 'x' WHERE seq = 1")
    verify_ledger()
    page = viewer.get("/hosts/").content.decode()
    assert "The ledger is broken" in page
    assert "Entry 1 was changed" in page
    viewer.logout()
    assert "The ledger is broken" not in viewer.get("/hosts/", follow=True).content.decode()


def test_the_api_gives_entries_and_what_the_last_verification_found(
    viewer: Client, olive: User
) -> None:
    fill(3, olive)
    fill(1, deployment="other")
    assert viewer.get("/api/v1/ledger/verification/").status_code == 404
    found = viewer.get("/api/v1/ledger/?person=olive&page_size=2").json()
    assert [entry["seq"] for entry in found["results"]] == [3, 2]
    assert viewer.get(found["next"]).json()["results"][0]["seq"] == 1
    assert len(viewer.get("/api/v1/ledger/?deployment=other").json()["results"]) == 1
    entry = viewer.get("/api/v1/ledger/2/").json()
    assert entry["payload"] == {"deployment": "toy", "number": 2, "reason": "Größe 131K <b>"}
    verify_ledger()
    state = viewer.get("/api/v1/ledger/verification/").json()
    assert (state["entries"], state["is_whole"]) == (4, True)
    assert state["head_hash"] == Entry.objects.get(seq=4).entry_hash


async def whole(answer: Any) -> bytes:
    return b"".join([part async for part in answer.streaming_content])


def test_the_export_streams_every_entry_in_order(
    viewer: Client, olive: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "LINES_AT_ONCE", 2)
    fill(5, olive)
    text = async_to_sync(whole)(viewer.get("/ledger/export.jsonl"))
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4, 5]
    assert lines[2]["previous_hash"] == lines[1]["entry_hash"]


def test_the_reports_verdicts_are_entered_once_and_found_from_their_deployment(
    viewer: Client,
) -> None:
    for _ in range(2):
        call_command("load_report")
    verdicts = Entry.objects.filter(kind="verdict")
    assert verdicts.count() == Verdict.objects.count() == 21
    assert set(verdicts.values_list("subject_id", flat=True)) == set(
        Verdict.objects.values_list("pk", flat=True)
    )
    assert verify_ledger().why == ""
    verdict = verdicts.get(payload__deployment="qwen3-embedding-4b-llama-cpp")
    query = f"?deployment={verdict.payload['deployment']}"
    deployment = viewer.get(f"/deployments/{verdict.payload['deployment']}/").content.decode()
    assert f'href="/ledger/{query}"' in deployment
    assert shown(viewer, query) == [verdict.seq]
