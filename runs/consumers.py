"""Following a run over a WebSocket: replay after the last seen number, then follow."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings

from people.access import Action, may
from runs.follow import Page, Status, read_page
from runs.models import Run
from runs.wake import group_of

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 0.25
LOOK_WHEN_WOKEN_S = 2.0  # with Redis, wake-ups come by themselves
SAY_SOMETHING_EVERY_S = 5.0  # so that the browser notices a dead connection
WRONG_MESSAGE = 4400
OUR_FAULT = 1011


def may_follow(user: Any, run_id: int) -> bool:
    """Signed in, allowed to view, not stuck at a one-time password; and the run is there."""
    if not may(user, Action.VIEW) or user.must_change_password:
        return False
    return Run.objects.filter(pk=run_id).exists()


class RunConsumer(AsyncJsonWebsocketConsumer):
    """The client says `{"after": N}`; each answer is a `Page`. Closed after the last event."""

    async def connect(self) -> None:
        self.run_id = int(self.scope["url_route"]["kwargs"]["pk"])
        self.woken = asyncio.Event()
        self.following: asyncio.Task[None] | None = None
        if not await database_sync_to_async(may_follow)(self.scope["user"], self.run_id):
            await self.close()
            return
        if settings.REDIS_URL:
            await self.channel_layer.group_add(group_of(self.run_id), self.channel_name)
        await self.accept()

    async def receive_json(self, content: Any, **_: Any) -> None:
        after = content.get("after") if isinstance(content, dict) else None
        if type(after) is not int or after < 0 or self.following is not None:
            await self.close(code=WRONG_MESSAGE)
            return
        self.following = asyncio.create_task(self._follow(after))

    async def decode_json(self, text_data: str) -> Any:
        with suppress(ValueError):
            return await super().decode_json(text_data)
        return None

    async def disconnect(self, code: int) -> None:
        if self.following is not None:
            self.following.cancel()
        if settings.REDIS_URL:
            await self.channel_layer.group_discard(group_of(self.run_id), self.channel_name)

    async def run_changed(self, message: dict[str, Any]) -> None:
        self.woken.set()

    async def _follow(self, after: int) -> None:
        try:
            await self._send_pages(after)
        except Exception:
            logger.exception("Following run %s broke off", self.run_id)
            await self.close(code=OUR_FAULT)

    async def _send_pages(self, after: int) -> None:
        told: Status | None = None
        told_at = 0.0
        while True:
            self.woken.clear()
            page: Page = await database_sync_to_async(read_page)(self.run_id, after)
            is_quiet = time.monotonic() - told_at > SAY_SOMETHING_EVERY_S
            if page["events"] or page["status"] != told or page["is_ended"] or is_quiet:
                await self.send_json(page)
                told, told_at = page["status"], time.monotonic()
            after = page["last"]
            if page["is_ended"]:
                await self.close()
                return
            if not page["is_more"]:
                await self._wait()

    async def _wait(self) -> None:
        patience_s = LOOK_WHEN_WOKEN_S if settings.REDIS_URL else LOOK_EVERY_S
        with suppress(TimeoutError):
            await asyncio.wait_for(self.woken.wait(), patience_s)
