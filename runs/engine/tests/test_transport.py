"""Framing: where an answer begins and ends, on real sockets."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from runs.engine.clock import now_ns
from runs.engine.plan import Limits
from runs.engine.records import Ending
from runs.engine.tests.wires import answer_to, fetch, reset, says, serving
from runs.engine.transport import NotHTTP, Stamps, open_client
from runs.engine.transport.wire import Turnstile, Wire

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
HELLO = b"6\r\nhello \r\n"
WORLD = b"5\r\nworld\r\n"
SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"
UNSIZED = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("wire", "ending"),
    [
        pytest.param(CHUNKED + HELLO + WORLD + b"0\r\n\r\n", "complete", id="chunked"),
        pytest.param(
            CHUNKED + b"6;a=b\r\nhello \r\n5\r\nworld\r\n0\r\nTrailer: t\r\n\r\n",
            "complete",
            id="chunked with an extension and a trailer",
        ),
        pytest.param(SIZED + b"hello world", "complete", id="content-length"),
        pytest.param(SIZED + b"hello world and more", "complete", id="more than content-length"),
        pytest.param(UNSIZED + b"hello world", "eof", id="until close"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\nhello world", "eof", id="HTTP/1.0"),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\n" + SIZED + b"hello world", "complete", id="100 first"
        ),
        pytest.param(
            b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 2 + SIZED + b"hello world",
            "complete",
            id="two 103 first",
        ),
        pytest.param(CHUNKED + HELLO + WORLD, "closed_early", id="no last chunk"),
        pytest.param(CHUNKED + HELLO + b"9\r\nworld", "closed_early", id="inside a chunk"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhello world",
            "closed_early",
            id="less than content-length",
        ),
        pytest.param(
            CHUNKED + b"b\r\nhello world\r\nnonsense\r\n", "protocol_error", id="broken chunk size"
        ),
    ],
)
async def test_it_reads_the_body_and_names_its_ending(wire: bytes, ending: str) -> None:
    answer = await answer_to(says(wire))

    assert answer.status == 200
    assert answer.body == b"hello world"
    assert answer.ending == ending
    assert bool(answer.error) == (ending not in ("complete", "eof"))


async def test_it_keeps_interim_headers_out_of_the_answer() -> None:
    answer = await answer_to(
        says(b"HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n" + SIZED + b"hello world")
    )

    assert "x-hint" not in answer.headers
    assert answer.headers["content-length"] == "11"


async def test_it_keeps_trailers_out_of_the_headers() -> None:
    answer = await answer_to(says(CHUNKED + b"0\r\nX-Late: 1\r\n\r\n"))

    assert "x-late" not in answer.headers
    assert answer.ending is Ending.COMPLETE


@pytest.mark.parametrize("status", [204, 304])
async def test_it_waits_for_no_body_where_none_can_be(status: int) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %d Whatever\r\n\r\n" % status)
        await reader.read()  # open until the client hangs up

    answer = await answer_to(script)

    assert answer.status == status
    assert answer.ending is Ending.COMPLETE
    assert answer.blocks == []


async def test_it_does_not_wait_for_the_close_after_a_complete_answer() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(SIZED + b"hello world")
        await reader.read()

    assert (await answer_to(script)).body == b"hello world"


async def test_it_tells_the_http_version() -> None:
    assert (await answer_to(says(b"HTTP/1.0 200 OK\r\n\r\n"))).http_version == "HTTP/1.0"
    assert (await answer_to(says(SIZED + b"hello world"))).http_version == "HTTP/1.1"


async def test_it_keeps_what_came_before_a_reset() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED + b"5\r\nhello\r\n")
        await received.wait()
        reset(writer)

    received = asyncio.Event()
    async with (
        serving(script) as url,
        open_client(base_url=url, connect_s=5, limits=Limits()) as client,
        client.stream("GET", "/") as response,
    ):
        seen = []
        stream = response.extensions["stamped"]
        async for blocks in stream.stamped():
            seen += [data for _, data in blocks]
            received.set()

    assert seen == [b"hello"]
    assert stream.ending is Ending.RESET
    assert stream.error


async def test_it_reads_a_refusal_that_comes_before_the_request_was_sent_whole() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!")
        await writer.drain()

    answer = await answer_to(script, content=b"x" * 20_000_000)

    assert answer.status == 413
    assert answer.body == b"no!"


async def test_it_sends_the_whole_request_with_its_length() -> None:
    got: list[bytes] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.readuntil(b"\r\n\r\n"))
        got.append(await reader.readexactly(3_000_000))
        writer.write(SIZED + b"hello world")

    body = b"x" * 3_000_000
    answer = await answer_to(script, content=body)

    head = got[0].lower()
    assert head.startswith(b"post /v1/chat/completions http/1.1\r\n")
    assert b"\r\nhost: 127.0.0.1" in head
    assert b"\r\ncontent-length: 3000000\r\n" in head
    assert b"\r\naccept-encoding: identity\r\n" in head
    assert got[1] == body
    assert answer.stamps.sent_ns is not None


async def test_each_request_has_a_connection_of_its_own() -> None:
    peers = set()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peers.add(writer.get_extra_info("peername"))
        await says(SIZED + b"hello world")(reader, writer)

    async with (
        serving(script) as url,
        open_client(base_url=url, connect_s=5, limits=Limits()) as client,
    ):
        for _ in range(3):
            await client.get("/")

    assert len(peers) == 3


async def test_plain_httpx_reading_works_too_and_raises_for_a_broken_body() -> None:
    async with (
        serving(says(CHUNKED + b"5\r\nhello\r\n")) as url,
        open_client(base_url=url, connect_s=5, limits=Limits()) as client,
    ):
        with pytest.raises(httpx.RemoteProtocolError, match="closed_early"):
            await client.get("/")


async def test_it_does_not_follow_redirects() -> None:
    answer = await answer_to(
        says(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
    )

    assert answer.status == 302


async def test_an_upgrade_is_not_an_answer() -> None:
    with pytest.raises(NotHTTP):
        await answer_to(
            says(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        )


# --- stamps ---


async def test_stamps_are_in_order_and_never_later_than_the_reading() -> None:
    asked_ns: list[int] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked_ns.append(now_ns())
        for piece in (CHUNKED, b"5\r\nhello\r\n", b"0\r\n\r\n"):
            writer.write(piece)
            await writer.drain()

    before_ns = now_ns()
    answer = await answer_to(script)
    after_ns = now_ns()

    stamps = answer.stamps
    assert stamps.connected_ns is not None
    assert stamps.sent_ns is not None
    assert stamps.first_byte_ns is not None
    assert stamps.headers_ns is not None
    sending = [before_ns, stamps.started_ns, stamps.connected_ns, stamps.sent_ns, after_ns]
    receiving = [asked_ns[0], stamps.first_byte_ns, stamps.headers_ns]
    receiving += [*(at_ns for at_ns, _ in answer.blocks), after_ns]
    assert sending == sorted(sending)
    assert receiving == sorted(receiving)


async def test_bytes_are_stamped_when_they_arrive_not_when_they_are_read() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"early")
        await reader.read()

    arrived = asyncio.Event()

    class Telling(Wire):
        def buffer_updated(self, nbytes: int) -> None:
            super().buffer_updated(nbytes)
            arrived.set()

    async with serving(script) as url, asyncio.timeout(10):
        address = httpx.URL(url)
        turnstile = Turnstile()
        transport, wire = await asyncio.get_running_loop().create_connection(
            lambda: Telling(turnstile), address.host, address.port or 0
        )
        await arrived.wait()
        asked_ns = now_ns()
        await wire.more()
        taken = wire.take()
        transport.abort()

    assert [data for _, data in taken] == [b"early"]
    assert taken[0][0] <= asked_ns


async def test_the_stamps_of_a_request_are_filled_in_while_it_goes_on() -> None:
    held = asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        held.set()
        await reader.read()

    stamps = Stamps(started_ns=now_ns())
    async with (
        serving(script) as url,
        open_client(base_url=url, connect_s=5, limits=Limits()) as client,
    ):
        request = client.build_request("GET", "/", extensions={"stamps": stamps})
        task = asyncio.create_task(client.send(request, stream=True))
        async with asyncio.timeout(10):
            await held.wait()
            seen = (stamps.connected_ns, stamps.sent_ns, stamps.headers_ns)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    assert seen[0] is not None
    assert seen[1] is not None
    assert seen[2] is None


async def test_a_cancelled_request_hangs_up() -> None:
    held, hung_up = asyncio.Event(), asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        held.set()
        try:
            await reader.read()
        finally:
            hung_up.set()

    async with serving(script) as url, asyncio.timeout(10):
        task = asyncio.create_task(fetch(url))
        await held.wait()
        task.cancel()
        await hung_up.wait()
        with pytest.raises(asyncio.CancelledError):
            await task
