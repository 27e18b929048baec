from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from catalog.follow_ups import services
from catalog.follow_ups.services import FollowUpRefused
from catalog.models import Deployment, FollowUp
from people.models import User
from people.tokens import make_token
from runs import claims, signals
from runs.claims import Ending
from runs.follow_ups.services import close_follow_up, proving_runs
from runs.models import Run
from runs.tests.conftest import deployment as deployment
from runs.tests.conftest import host as host
from runs.tests.conftest import make_run as make_run
from runs.tests.conftest import suite as suite

MakeRun = Callable[..., Run]
PASSED = Ending("clean_pass")
FAILED = Ending("fail", "partial_prefill", "Prefill ended at 61,440 of 102,400 tokens.")


def ended(run: Run, ending: Ending) -> Run:
    """Executed by a worker, as far as its row is concerned."""
    claim = claims.claim(run.pk, worker="w1")
    assert claim is not None and claims.finish(claim, ending, report={})
    run.refresh_from_db()
    return run


def kinds(follow_up: FollowUp) -> list[str]:
    return list(follow_up.entries.values_list("kind", flat=True))


@pytest.fixture
def raised(olive: User, deployment: Deployment) -> FollowUp:
    return services.raise_follow_up(
        actor=olive,
        text="Prefill ends part way at 100K.",
        deployments=[deployment],
        failure_class="partial_prefill",
    )


def test_only_a_passed_run_of_its_deployments_since_it_was_opened_closes_it(
    olive: User, vera: User, raised: FollowUp, make_run: MakeRun
) -> None:
    old, failed, passed = (ended(make_run(), ending) for ending in (PASSED, FAILED, PASSED))
    Run.objects.filter(pk=old.pk).update(started_at=timezone.now() - timedelta(days=1))
    other = FollowUp.objects.create(text="Elsewhere")
    other.deployments.add(
        Deployment.objects.create(
            slug="other",
            artifact=passed.deployment.artifact,
            runtime=passed.deployment.runtime,
            host=passed.host,
        )
    )
    for follow_up, number, why in (
        (raised, old.pk, "older than"),
        (raised, failed.pk, "no clean pass"),
        (raised, 10**9, "There is no run"),
        (other, passed.pk, "not about"),
    ):
        with pytest.raises(FollowUpRefused, match=why):
            close_follow_up(actor=olive, follow_up=follow_up, run_number=number)
    with pytest.raises(FollowUpRefused, match="say why"):
        close_follow_up(actor=olive, follow_up=raised, reason="  ")
    with pytest.raises(PermissionDenied):
        close_follow_up(actor=vera, follow_up=raised, run_number=passed.pk)
    assert proving_runs(raised) == [passed]
    closed = close_follow_up(actor=olive, follow_up=raised, run_number=passed.pk)
    assert (closed.is_open, closed.closed_by_run) == (False, passed.pk)
    last = closed.entries.last()
    assert last and last.path == f"/runs/{passed.pk}/" and last.by_name == "olive"
    with pytest.raises(FollowUpRefused, match="Reopen it first"):
        close_follow_up(actor=olive, follow_up=raised, reason="twice")


def test_the_same_failure_later_opens_it_again_and_another_does_not(
    olive: User, raised: FollowUp, make_run: MakeRun
) -> None:
    passed = ended(make_run(), PASSED)
    close_follow_up(actor=olive, follow_up=raised, run_number=passed.pk)
    ended(make_run(), Ending("fail", "json_invalid", "No JSON."))
    ended(make_run(), Ending("inconclusive", "cancelled"))
    raised.refresh_from_db()
    assert not raised.is_open
    again = ended(make_run(), FAILED)
    raised.refresh_from_db()
    assert raised.is_open and raised.closed_by_run is None
    assert kinds(raised) == ["raised", "closed", "reopened"]
    entry = raised.entries.get(kind="reopened")
    assert entry.path == f"/runs/{again.pk}/" and "61,440" in entry.text and not entry.by_name
    with pytest.raises(FollowUpRefused, match="older than"):
        close_follow_up(actor=olive, follow_up=raised, run_number=passed.pk)


def test_a_failing_campaign_raises_one_follow_up_however_often_it_is_told(
    olive: User, deployment: Deployment
) -> None:
    told: dict[str, Any] = {"title": "Canary of toy", "path": "/campaigns/1/"}
    told |= {"kind": "campaign_failing", "deployment": deployment, "people": []}
    for n in (1, 2):
        signals.tell(signals.happened, key=f"c1-{n}", text=f"{n} cycles failed.", **told)
    signals.tell(signals.happened, key="g", text="", **{**told, "kind": "campaign_gap"})
    raised = FollowUp.objects.get()
    assert raised.text == "Canary of toy fails: find the cause." and raised.origin == "client"
    assert kinds(raised) == ["raised", "seen_again"]
    close_follow_up(actor=olive, follow_up=raised, reason="The disk was full; it is larger now.")
    signals.tell(signals.happened, key="c2", text="Again.", **told)
    assert FollowUp.objects.get().is_open


def test_a_failed_run_leads_to_a_filled_in_form_and_to_its_history(
    client: Client, olive: User, make_run: MakeRun
) -> None:
    run = ended(make_run(), FAILED)
    client.force_login(olive)
    assert f"/follow-ups/new/?run={run.pk}" in client.get(f"/runs/{run.pk}/").content.decode()
    page = client.get(f"/follow-ups/new/?run={run.pk}")
    initial = page.context["form"].initial
    assert "61,440" in initial["text"] and initial["failure_class"] == "partial_prefill"
    given = {**initial, "assignee": olive.pk, "due_on": "2030-01-31", "text": "<b>Look</b>"}
    made = client.post("/follow-ups/new/", given, follow=True)
    told = made.content.decode()
    assert "&lt;b&gt;Look&lt;/b&gt;" in told and "For olive, due 2030-01-31." in told
    assert f'href="/runs/{run.pk}/"' in told
    again = client.get(f"/follow-ups/new/?run={run.pk}").content.decode()
    assert "is open already" in again


def test_the_page_comments_plans_closes_and_reopens(
    client: Client, olive: User, vera: User, raised: FollowUp, make_run: MakeRun
) -> None:
    client.force_login(vera)
    address = f"/follow-ups/{raised.pk}/"
    assert "<textarea" not in client.get(address).content.decode()
    client.force_login(olive)
    client.post(f"{address}comment/", {"text": "It needs 8 GiB more."})
    client.post(f"{address}plan/", {"assignee": olive.pk, "due_on": "2020-02-01"})
    assert "overdue" in client.get(address).content.decode()
    refused = client.post(f"{address}close/", {"run": 99})
    assert refused.status_code == 422 and "There is no run #99" in refused.content.decode()
    run = ended(make_run(), PASSED)
    client.post(f"{address}close/", {"run": run.pk, "reason": "With more memory."})
    assert f"run #{run.pk}" in client.get(address).content.decode()
    assert client.post(f"{address}comment/", {"text": "\x00"}).status_code == 422
    client.post(f"{address}reopen/", {"reason": "Only at night."})
    assert kinds(raised) == ["raised", "comment", "planned", "closed", "reopened"]


def test_the_list_is_filtered_by_its_address(
    client: Client, olive: User, abel: User, raised: FollowUp, deployment: Deployment
) -> None:
    yesterday = timezone.now().date() - timedelta(days=1)
    services.plan(actor=olive, follow_up=raised, assignee=abel, due_on=yesterday)
    done = services.raise_follow_up(actor=olive, text="Write it down.", assignee=olive)
    close_follow_up(actor=olive, follow_up=done, reason="It is written.")
    client.force_login(olive)
    for query, expected in {
        "": [raised, done],
        "state=open": [raised],
        "state=closed": [done],
        "state=overdue": [raised],
        f"deployment={deployment.slug}": [raised],
        "assignee=me": [done],
        "assignee=abel": [raised],
        "assignee=nobody": [],
        "state=nonsense&page=9": [raised, done],
    }.items():
        page = client.get(f"/follow-ups/?{query}")
        assert list(page.context["page"].object_list) == expected, query


def test_a_program_raises_and_closes_as_a_person_does(
    olive: User, deployment: Deployment, make_run: MakeRun
) -> None:
    text = make_token(actor=olive, name="test", scopes=["run"], days=1)[1]
    client = Client(headers={"Authorization": f"Bearer {text}"})

    def post(address: str, body: dict[str, Any]) -> Any:
        return client.post(f"/api/v1/follow-ups/{address}", body, "application/json")

    body = {"text": "Probe at night.", "deployments": [deployment.slug], "assignee": "olive"}
    made = post("", body).json()
    assert made["is_open"] and made["entries"][0]["text"] == "For olive."
    assert post(f"{made['id']}/close/", {}).status_code == 409
    run = ended(make_run(), PASSED)
    closed = post(f"{made['id']}/close/", {"run": run.pk}).json()
    assert (closed["is_open"], closed["closed_by_run"]) == (False, run.pk)
    assert post("", {**body, "deployments": ["nowhere"]}).status_code == 404
    assert post("", {**body, "assignee": "nobody"}).status_code == 400


def test_the_report_taken_out_again_leaves_what_somebody_worked_on(olive: User) -> None:
    call_command("load_report", verbosity=0)
    first = FollowUp.objects.order_by("pk")[0]
    services.comment(actor=olive, follow_up=first, text="Half done.")
    call_command("load_report", "--remove", verbosity=0)
    assert list(FollowUp.objects.all()) == [first]
