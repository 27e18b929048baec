"""Wake-ups over a real Redis: a follower looks at once instead of at its next turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import Client

from people.models import User
from runs import consumers
from runs.models import Run, RunEvent
from runs.tests.sockets import Socket
from runs.wake import wake_followers
from tests.servers import redis_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]
in_database = database_sync_to_async


@pytest.fixture
def redis_url(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with redis_server(tmp_path / "redis") as url:
        layer = {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [url], "prefix": "test"},
        }
        settings.REDIS_URL = url
        settings.CHANNEL_LAYERS = {"default": layer}
        # Only a wake-up can bring news before the test's patience ends.
        monkeypatch.setattr(consumers, "LOOK_WHEN_WOKEN_S", 600.0)
        yield url


def prepare(make_run: Callable[..., Run], vera: User) -> tuple[Run, str]:
    client = Client()
    client.force_login(vera)
    return make_run(), client.cookies["sessionid"].value


def tell(run: Run) -> None:
    """As a worker does: in a thread without an event loop."""
    RunEvent.objects.create(run=run, seq=1, t_ms=1, kind="note", payload={"text": "news"})
    wake_followers(run.pk)


async def test_a_follower_is_woken_from_another_thread(
    redis_url: str, make_run: Callable[..., Run], vera: User
) -> None:
    run, session = await in_database(prepare)(make_run, vera)
    socket = Socket(f"/ws/runs/{run.pk}/", session=session)
    assert await socket.connect()
    await socket.send('{"after": 0}')
    assert (await socket.page())["events"] == []
    await in_database(tell)(run)
    assert [event["seq"] for event in (await socket.page())["events"]] == [1]
    await socket.disconnect()


def test_a_redis_that_is_away_does_no_harm(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [settings.REDIS_URL]},
        }
    }
    wake_followers(1)
    assert "could not be woken" in caplog.text
