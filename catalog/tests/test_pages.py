from __future__ import annotations

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.machine import chip_name, ensure_local_host
from catalog.models import FollowUp, Host
from people.models import User


@pytest.fixture
def viewer(client: Client, vera: User) -> Client:
    client.force_login(vera)
    return client


@pytest.fixture
def report(db: None) -> None:
    call_command("load_report", verbosity=0)


@pytest.mark.parametrize("path", ["/hosts/", "/claims/", "/follow-ups/"])
def test_it_says_what_to_do_while_there_is_nothing(viewer: Client, path: str) -> None:
    page = viewer.get(path)
    assert page.status_code == 200
    assert "empty-state" in page.content.decode()


def test_hosts_show_memory_and_lead_to_their_deployments(viewer: Client, report: None) -> None:
    page = viewer.get("/hosts/").content.decode()
    assert "512\u202fGiB" in page
    assert "Apple M3 Ultra" in page
    assert 'href="/?host=mac-studio-m3-ultra">22<' in page
    assert "server default caps output at 512 tokens" in page


def test_claims_are_marked_and_kept_apart(viewer: Client, report: None) -> None:
    page = viewer.get("/claims/").content.decode()
    assert page.count('class="origin origin-claim"') == 3
    assert "172-199 tok/s" in page
    assert "Single author, synthetic benchmark" in page
    assert "Kimi K2.5" in page


def test_follow_ups_lead_to_their_deployments_open_ones_first(
    viewer: Client, report: None
) -> None:
    FollowUp.objects.filter(text__startswith="35B p8").update(is_open=False)
    page = viewer.get("/follow-ups/").content.decode()
    assert "/deployments/official-gemma-4-31b-it-vllm-metal/" in page
    assert page.index("Official Gemma") < page.index("35B p8")
    assert page.count(">done<") == 1


def test_the_reports_failures_are_shown_under_our_names(viewer: Client, report: None) -> None:
    page = viewer.get("/follow-ups/").content.decode()
    assert "Prefill ended part way" in page
    assert "keep the excess queued" in page


# Every page asks six times: session, person, roles, runs going on, unread notices, whether the
# ledger is whole. The list of follow-ups adds six: count, page and its deployments, what two
# filters offer, failures.
@pytest.mark.parametrize(
    ("path", "most"), [("/hosts/", 10), ("/claims/", 8), ("/follow-ups/", 12)]
)
def test_it_asks_the_database_a_fixed_number_of_times(
    viewer: Client,
    report: None,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    path: str,
    most: int,
) -> None:
    with django_assert_max_num_queries(most):
        viewer.get(path)


@pytest.mark.django_db
def test_this_machine_is_described_and_keeps_the_name_somebody_gave_it() -> None:
    host = ensure_local_host("this-machine")
    assert (host.name, host.chip) == ("This machine", chip_name())
    assert host.memory_bytes and host.memory_bytes > 2**30
    Host.objects.update(name="Lab corner")
    assert ensure_local_host("this-machine").name == "Lab corner"
