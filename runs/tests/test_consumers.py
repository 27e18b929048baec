"""Following over a WebSocket, through the whole ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from channels.db import database_sync_to_async
from django.test import Client

from people.models import User
from runs import claims
from runs.claims import Claim, Ending
from runs.models import Run, RunEvent
from runs.tests.sockets import Socket

pytestmark = pytest.mark.django_db(transaction=True)
MakeRun = Callable[..., Run]
in_database = database_sync_to_async


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


def socket(run_id: int, **headers: str) -> Socket:
    return Socket(f"/ws/runs/{run_id}/", **headers)


@asynccontextmanager
async def connected(run: Run, user: User) -> AsyncIterator[Socket]:
    one = socket(run.pk, session=await in_database(session_of)(user))
    assert await one.connect()
    yield one
    await one.disconnect()


def add_event(run: Run, seq: int) -> None:
    RunEvent.objects.create(run=run, seq=seq, t_ms=seq, kind="note", payload={"text": "x"})


def take(run: Run) -> Claim:
    claim = claims.claim(run.pk, worker="w1")
    assert claim is not None
    return claim


async def seqs(one: Socket) -> list[int]:
    page = await one.page()
    return [event["seq"] for event in page["events"]]


async def test_nobody_follows_without_a_session(make_run: MakeRun) -> None:
    run = await in_database(make_run)()
    assert not await socket(run.pk).connect()


async def test_another_site_cannot_follow_with_our_cookie(make_run: MakeRun, vera: User) -> None:
    run = await in_database(make_run)()
    session = await in_database(session_of)(vera)
    assert not await socket(run.pk, session=session, origin="http://evil.example").connect()


async def test_a_one_time_password_opens_no_socket(make_run: MakeRun, vera: User) -> None:
    run = await in_database(make_run)()
    await in_database(User.objects.filter(pk=vera.pk).update)(must_change_password=True)
    session = await in_database(session_of)(vera)
    assert not await socket(run.pk, session=session).connect()


async def test_an_unknown_run_is_refused(vera: User) -> None:
    session = await in_database(session_of)(vera)
    assert not await socket(404, session=session).connect()


async def test_a_viewer_gets_a_replay_then_what_follows_then_the_end(
    make_run: MakeRun, vera: User
) -> None:
    run = await in_database(make_run)()
    claim = await in_database(take)(run)
    for seq in (1, 2, 3):
        await in_database(add_event)(run, seq)
    async with connected(run, vera) as one:
        await one.send('{"after": 1}')
        assert await seqs(one) == [2, 3]
        await in_database(add_event)(run, 4)
        assert await seqs(one) == [4]
        await in_database(claims.finish)(claim, Ending("clean_pass"), report={})
        last = await one.page()
        assert last["events"][0]["kind"] == "run.finished"
        assert last["is_ended"] is True
        assert (await one.receive())["type"] == "websocket.close"


async def test_a_queued_run_is_followed_from_before_it_begins(
    make_run: MakeRun, vera: User
) -> None:
    run = await in_database(make_run)()
    async with connected(run, vera) as one:
        await one.send('{"after": 0}')
        first = await one.page()
        assert first["status"]["state"] == "queued"
        await in_database(take)(run)
        second = await one.page()
        assert second["status"]["state"] == "running"


@pytest.mark.parametrize("said", ['{"after": -1}', '{"after": "1"}', "[]", "nonsense", "{}"])
async def test_nonsense_from_a_browser_closes_its_socket(
    make_run: MakeRun, vera: User, said: str
) -> None:
    run = await in_database(make_run)()
    async with connected(run, vera) as one:
        await one.send(said)
        closed = await one.receive()
        assert (closed["type"], closed["code"]) == ("websocket.close", 4400)
