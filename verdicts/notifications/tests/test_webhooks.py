"""Webhooks at a real receiver: signed, tried again, given up at last, never redirected."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from catalog.models import Deployment
from people.models import User
from verdicts.notifications.delivery import MOST_ATTEMPTS, deliver_due, pause_after
from verdicts.notifications.models import Delivery, Notice, Webhook
from verdicts.notifications.services import add_webhook, deliver_again, publish
from verdicts.notifications.tests.conftest import Receiver

SECRET = "only in the environment"


@pytest.fixture
def hook(ada: User, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Webhook:
    monkeypatch.setenv("LAB_HOOK_SECRET", SECRET)
    return add_webhook(
        actor=ada,
        name="chat",
        url=receiver.url,
        secret_env="LAB_HOOK_SECRET",
        kinds=["run_finished"],
    )


def told(deployment: Deployment, key: str = "1") -> Notice | None:
    return publish(
        kind="run_finished",
        key=key,
        title="Fail: <!channel> & @all",
        path="/runs/1/",
        deployment=deployment,
    )


def test_a_notice_arrives_once_signed_and_readable_by_slack_and_mattermost(
    hook: Webhook, receiver: Receiver, deployment: Deployment
) -> None:
    assert told(deployment) is not None
    assert told(deployment) is None
    assert deliver_due() == 1
    assert deliver_due() == 0
    headers, body = receiver.came[0]
    moment, signed = (part.split("=")[1] for part in headers["Cleanpass-Signature"].split(","))
    expected = hmac.new(SECRET.encode(), f"{moment}.".encode() + body, hashlib.sha256)
    assert hmac.compare_digest(signed, expected.hexdigest())
    assert abs(int(moment) - timezone.now().timestamp()) < 60
    sent = json.loads(body)
    assert sent["event"] == "run_finished" and sent["deployment"] == "toy"
    assert "&lt;!channel&gt; &amp;" in sent["text"] and "@all" not in sent["text"]
    assert len(receiver.came) == 1


def test_failed_attempts_come_again_later_and_later_until_one_arrives(
    hook: Webhook, receiver: Receiver, deployment: Deployment
) -> None:
    receiver.statuses = [500, 302, 200]
    told(deployment)
    now = timezone.now()
    for pause_s, arrived in ((0, 0), (5, 0), (11, 0), (20, 0), (60, 1)):
        with time_machine.travel(now + timedelta(seconds=pause_s), tick=False):
            assert deliver_due() == arrived
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.http_status) == ("delivered", 3, 200)
    assert len(receiver.came) == 3, "a redirect was followed, or a pause was not kept"


def test_a_delivery_is_given_up_at_last_and_an_admin_may_try_again(
    hook: Webhook, receiver: Receiver, deployment: Deployment, ada: User
) -> None:
    receiver.statuses = [503]
    told(deployment)
    Delivery.objects.update(attempts=MOST_ATTEMPTS - 1)
    deliver_due()
    row = Delivery.objects.get()
    assert (row.state, row.seen) == ("failed", "Answered 503.")
    receiver.statuses = [204]
    deliver_again(actor=ada, delivery=row)
    assert deliver_due() == 1
    assert pause_after(1) < pause_after(2) < pause_after(6) <= pause_after(50)


def test_nothing_is_sent_unsigned_or_while_switched_off(
    hook: Webhook, receiver: Receiver, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_HOOK_SECRET")
    told(deployment)
    deliver_due()
    assert "LAB_HOOK_SECRET is not set" in Delivery.objects.get().seen
    Webhook.objects.update(is_active=False)
    Delivery.objects.update(due_at=timezone.now())
    deliver_due()
    assert receiver.came == [] and Delivery.objects.get().attempts == 1


def test_only_admins_register_one_and_only_at_a_plain_address(ada: User, abel: User) -> None:
    good: dict[str, Any] = {
        "name": "x",
        "url": "http://chat/x",
        "secret_env": "S",
        "kinds": ["run_finished"],
    }
    with pytest.raises(PermissionDenied):
        add_webhook(actor=abel, **good)
    for wrong in ({"url": "file:///etc/passwd"}, {"secret_env": "not a name"}, {"kinds": ["odd"]}):
        with pytest.raises(ValidationError):
            add_webhook(actor=ada, **{**good, **wrong})
