"""Tells followers in other processes to look now. A lost wake-up only means a little later."""

from __future__ import annotations

import asyncio
import logging

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings

logger = logging.getLogger(__name__)

PATIENCE_S = 1.0


def group_of(run_id: int) -> str:
    return f"run.{run_id}"


async def _send(run_id: int) -> None:
    """Bounded: whoever stores events and beats a heart must not wait for a layer that hangs."""
    async with asyncio.timeout(PATIENCE_S):
        await get_channel_layer().group_send(group_of(run_id), {"type": "run.changed"})


def wake_followers(run_id: int) -> None:
    """Over the channel layer where it crosses processes; else followers look by themselves."""
    if not settings.REDIS_URL:
        return
    try:
        async_to_sync(_send)(run_id)
    except Exception:
        logger.warning("The followers of run %s could not be woken", run_id, exc_info=True)
