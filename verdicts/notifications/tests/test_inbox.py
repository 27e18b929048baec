"""People are told what they chose, in the transaction of what happened."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.test import Client

from catalog.models import Deployment
from catalog.services import Configuration, EndpointFacts, activate_endpoint, activate_revision
from people.models import User
from runs import signals
from runs.planning import current_suite
from runs.services import cancel_run, ensure_default_suites, start_run
from verdicts.notifications.models import InboxItem, Notice
from verdicts.notifications.services import publish, subscribe


def test_a_finished_run_tells_who_started_it_and_who_subscribed_to_its_deployment(
    client: Client, deployment: Deployment, olive: User, abel: User, vera: User
) -> None:
    ensure_default_suites()
    activate_revision(deployment, Configuration(parallel=1), origin="manual")
    activate_endpoint(deployment, EndpointFacts("http://127.0.0.1:9/v1", "toy"))
    subscribe(actor=abel, kinds=["run_finished"], deployment=deployment)
    subscribe(actor=vera, kinds=["promotion_decided"])
    run = start_run(
        actor=olive, deployment=deployment, suite=current_suite("smoke"), layer="direct"
    )
    cancel_run(actor=olive, run=run)
    assert set(InboxItem.objects.values_list("user__username", flat=True)) == {"olive", "abel"}
    client.force_login(abel)
    page = client.get("/inbox/").content.decode()
    assert "Inconclusive: Smoke" in page and f"/runs/{run.pk}/" in page and "1 unread" in page
    client.post("/inbox/read/")
    assert "Everything is read" in client.get("/inbox/").content.decode()


def test_what_is_rolled_back_is_told_to_nobody(deployment: Deployment, olive: User) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        publish(kind="campaign_gap", key="1", title="Gap", path="/", people=[olive])
        raise ZeroDivisionError
    assert not Notice.objects.exists()


def test_code_that_may_not_import_this_tells_by_a_signal_and_its_faults_undo_nothing(
    deployment: Deployment, olive: User
) -> None:
    told = {"key": "7:1", "title": "Gap of 4 min", "path": "/campaigns/7/", "people": [olive]}
    with transaction.atomic():
        signals.tell(signals.happened, kind="campaign_gap", deployment=deployment, **told)
        signals.tell(signals.happened, kind="no-such-kind", **told)
        signals.tell(signals.run_finished, run_id=0)
    assert InboxItem.objects.get(user=olive).notice.title == "Gap of 4 min"


def test_subscribing_replaces_the_choice_and_one_reads_only_ones_own_inbox(
    client: Client, deployment: Deployment, olive: User, vera: User
) -> None:
    client.force_login(vera)
    client.post("/inbox/subscriptions/", {"kinds": ["run_finished", "campaign_gap"]})
    client.post("/inbox/subscriptions/", {"kinds": ["campaign_gap"]})
    assert [row.kind for row in vera.subscriptions.all()] == ["campaign_gap"]
    publish(kind="run_finished", key="1", title="secret of olive", path="/", people=[olive])
    item = InboxItem.objects.get()
    client.post("/inbox/read/", {"item": item.pk})
    item.refresh_from_db()
    assert item.read_at is None
    assert "secret of olive" not in client.get("/inbox/").content.decode()
