"""Sends what is due to webhooks: signed, bounded in time, with back-off from the database."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from datetime import datetime, timedelta
from typing import Any

import httpx
from django.conf import settings
from django.utils import timezone

from verdicts.notifications.models import Delivery, DeliveryState, Notice

TIMEOUT = httpx.Timeout(10.0, connect=5.0)
HELD = timedelta(minutes=2)  # by the one who tries it; longer than any attempt
FIRST_PAUSE = timedelta(seconds=10)
LONGEST_PAUSE = timedelta(hours=6)
MOST_ATTEMPTS = 10
BATCH = 20
SIGNATURE = "Cleanpass-Signature"


class NoSecret(Exception):
    """The environment lacks the variable that the webhook names."""


def deliver_due() -> int:
    """Try what is due now, oldest first. Gives how many arrived."""
    due = Delivery.objects.filter(
        state=DeliveryState.PENDING, due_at__lte=timezone.now(), webhook__is_active=True
    )
    rows = list(due.select_related("webhook", "notice__deployment").order_by("due_at")[:BATCH])
    return sum(_try(row) for row in rows if _claim(row))


def _claim(row: Delivery) -> bool:
    """Compare-and-set on the attempts: two ticks at once send it once."""
    now = timezone.now()
    mine = Delivery.objects.filter(
        pk=row.pk, state=DeliveryState.PENDING, attempts=row.attempts, due_at=row.due_at
    )
    row.attempts += 1
    return bool(mine.update(attempts=row.attempts, due_at=now + HELD, tried_at=now))


def _try(row: Delivery) -> bool:
    try:
        status = send(row)
    except NoSecret:
        return _note(row, None, f"The variable {row.webhook.secret_env} is not set; nothing sent.")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _note(row, None, f"No answer ({type(error).__name__}).")
    return _note(row, status, f"Answered {status}.")


def send(row: Delivery) -> int:
    """One attempt; the answer's status. Its body is not read, and no redirect is followed."""
    body = json.dumps(payload(row.notice), separators=(",", ":")).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Cleanpass",
        "Cleanpass-Delivery": str(row.pk),
        "Cleanpass-Event": row.notice.kind,
        SIGNATURE: signature(row.webhook.secret_env, body, timezone.now()),
    }
    with (
        httpx.Client(timeout=TIMEOUT, follow_redirects=False, trust_env=False) as client,
        client.stream("POST", row.webhook.url, content=body, headers=headers) as answer,
    ):
        return answer.status_code


def payload(notice: Notice) -> dict[str, Any]:
    """`text` is what Slack and Mattermost show; the rest is for programs."""
    address = f"{settings.PUBLIC_URL}{notice.path}" if settings.PUBLIC_URL else notice.path
    said = " ".join(filter(None, (f"*{_plain(notice.title)}*", _plain(notice.text), address)))
    return {
        "text": said,
        "event": notice.kind,
        "id": notice.pk,
        "at": notice.created_at.isoformat(),
        "title": notice.title,
        "detail": notice.text,
        "deployment": notice.deployment.slug if notice.deployment else None,
        "url": address,
    }


def _plain(text: str) -> str:
    """Slack's own control characters, and mentions, mean nothing in what a server said."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("@", "@\u200b")


def signature(secret_env: str, body: bytes, at: datetime) -> str:
    """`t=<Unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`. Raises NoSecret."""
    secret = os.environ.get(secret_env, "")
    if not secret:
        raise NoSecret(secret_env)
    moment = str(int(at.timestamp()))
    signed = hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256)
    return f"t={moment},v1={signed.hexdigest()}"


def pause_after(attempts: int) -> timedelta:
    """10 s, then four times as long each time, six hours at most."""
    factor: int = 4 ** min(attempts - 1, 8)
    return min(FIRST_PAUSE * factor, LONGEST_PAUSE)


def _note(row: Delivery, status: int | None, seen: str) -> bool:
    arrived = status is not None and 200 <= status < 300
    if arrived:
        state = DeliveryState.DELIVERED
    elif row.attempts >= MOST_ATTEMPTS:
        state = DeliveryState.FAILED
    else:
        state = DeliveryState.PENDING
    due_at = timezone.now() + pause_after(row.attempts)
    Delivery.objects.filter(pk=row.pk, attempts=row.attempts).update(
        state=state, http_status=status, seen=seen, due_at=due_at
    )
    return arrived
