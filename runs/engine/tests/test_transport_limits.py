"""What a server may not do to us: floods, bombs, silence, and answers that are not HTTP."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib

import httpx
import pytest

from runs.engine.plan import Limits
from runs.engine.records import Ending
from runs.engine.tests.listening import free_port
from runs.engine.tests.wires import (
    Script,
    answer_to,
    fetch,
    reset,
    says,
    says_endlessly,
    serving,
)
from runs.engine.transport import (
    ConnectFailed,
    HeadersTooLarge,
    NoResponse,
    NotHTTP,
    ResetBeforeResponse,
    SlowConnect,
    Stamps,
    WireError,
    open_client,
    stamped,
)

MB = 1_000_000
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SMALL = Limits(body_bytes=1 * MB, line_bytes=100_000, header_bytes=50_000)


# --- no answer at all ---


async def test_it_says_that_nobody_listens() -> None:
    with pytest.raises(ConnectFailed, match="Nothing answers") as caught:
        await fetch(f"http://127.0.0.1:{free_port()}")

    assert caught.value.stamps.started_ns
    assert caught.value.stamps.connected_ns is None


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 70])
async def test_a_name_that_cannot_be_looked_up_is_a_failed_connection(host: str) -> None:
    with pytest.raises(ConnectFailed):
        await fetch(f"http://{host}:8080")


async def test_it_gives_up_connecting_after_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", never, raising=False)

    with pytest.raises(SlowConnect, match=r"within 0\.01 s"):
        await fetch("http://127.0.0.1:9", connect_s=0.01)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 2", OK, OK + b"X: y\r\n"])
async def test_closing_before_the_headers_are_whole_is_no_response(said: bytes) -> None:
    with pytest.raises(NoResponse) as caught:
        await answer_to(says(said))

    assert type(caught.value) is NoResponse
    assert caught.value.stamps.sent_ns is not None
    assert bool(caught.value.stamps.first_byte_ns) == bool(said)
    assert caught.value.stamps.headers_ns is None


async def test_a_reset_before_the_headers_is_told_apart() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        reset(writer)

    with pytest.raises(ResetBeforeResponse):
        await answer_to(script)


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"220 mail.example ESMTP\r\n",
        b"<html><body>hello</body></html>",
        b"\x00\x01\x02\x03" * 20,
        b"\x15\x03\x01\x00\x02\x02\x0a",
        b"-ERR unknown command\r\n",
        b"HTTP/9.9 what\r\n\r\n",
        OK + b"bad header line\r\n\r\n",
    ],
)
async def test_what_is_not_http_is_called_so(said: bytes) -> None:
    with pytest.raises(NotHTTP):
        await answer_to(says(said))


async def test_every_error_is_an_httpx_error_with_stamps() -> None:
    with pytest.raises(httpx.TransportError) as caught:
        await answer_to(says(b"nonsense\r\n"))

    assert isinstance(caught.value, WireError)
    assert isinstance(caught.value.stamps, Stamps)


# --- too much ---


@pytest.mark.parametrize(
    ("head", "block"),
    [
        pytest.param(OK, b"X-Flood: " + b"y" * 1000 + b"\r\n", id="many headers"),
        pytest.param(OK + b"X-Flood: ", b"y" * 1000, id="one endless header"),
        pytest.param(b"HTTP/1.1 200 ", b"K" * 1000, id="endless reason"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 40, id="endless interim answers"),
        pytest.param(b"", b"\r\n" * 500, id="endless blank lines"),
    ],
)
async def test_a_flood_of_headers_is_stopped(head: bytes, block: bytes) -> None:
    async with asyncio.timeout(20):
        with pytest.raises(HeadersTooLarge, match="50,000 bytes"):
            await answer_to(says_endlessly(head, block), limits=SMALL)


@pytest.mark.parametrize(
    ("head", "block"),
    [
        pytest.param(CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n", id="chunked"),
        pytest.param(OK + b"\r\n", b"x" * 65536, id="until close"),
        pytest.param(OK + b"Content-Length: 999999999999\r\n\r\n", b"x" * 65536, id="sized"),
    ],
)
async def test_an_endless_body_is_stopped_at_our_limit(head: bytes, block: bytes) -> None:
    async with asyncio.timeout(20):
        answer = await answer_to(says_endlessly(head, block), limits=SMALL)

    assert answer.ending is Ending.LIMIT
    assert "1,000,000 bytes" in answer.error
    assert len(answer.body) == SMALL.body_bytes


async def test_a_slow_reader_holds_a_fast_server_back() -> None:
    """Otherwise a server could fill our memory while the reader waits."""
    sent_bytes = 0

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent_bytes
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"\r\n")
        while True:
            writer.write(b"x" * 65536)
            sent_bytes += 65536
            try:
                async with asyncio.timeout(0.5):
                    await writer.drain()
            except TimeoutError:
                stuck.set()
                await writer.drain()

    stuck = asyncio.Event()
    limits = Limits(body_bytes=200 * MB)
    tracemalloc.start()
    try:
        async with (
            asyncio.timeout(30),
            serving(script) as url,
            open_client(base_url=url, connect_s=5, limits=limits) as client,
            client.stream("GET", "/") as response,
        ):
            blocks = stamped(response).stamped()
            await anext(blocks)
            await stuck.wait()
            held_at_bytes = sent_bytes
            _, peak_bytes = tracemalloc.get_traced_memory()
            read_bytes = 0
            while read_bytes < held_at_bytes + 20 * MB:  # reading sets it going again
                read_bytes += sum(len(data) for _, data in await anext(blocks))
            await blocks.aclose()
    finally:
        tracemalloc.stop()

    assert peak_bytes < 30 * MB


# --- compression that was not asked for ---


def gzipped(body: bytes, *, framing: bytes = b"") -> bytes:
    framing = framing or b"Content-Length: %d\r\n" % len(body)
    return OK + b"Content-Encoding: gzip\r\n" + framing + b"\r\n" + body


async def test_it_reads_gzip_though_it_asked_for_none() -> None:
    answer = await answer_to(says(gzipped(gzip.compress(b"hello" * 1000))))

    assert answer.body == b"hello" * 1000
    assert answer.ending is Ending.COMPLETE
    assert answer.headers["content-encoding"] == "gzip"


async def test_it_reads_deflate_too() -> None:
    body = zlib.compress(b"hello")
    head = OK + b"Content-Encoding: deflate\r\nContent-Length: %d\r\n\r\n" % len(body)

    assert (await answer_to(says(head + body))).body == b"hello"


async def test_a_gzip_bomb_stops_at_our_limit() -> None:
    bomb = gzip.compress(bytes(200 * MB))
    tracemalloc.start()
    try:
        answer = await answer_to(says(gzipped(bomb)), limits=SMALL)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert answer.ending is Ending.LIMIT
    assert len(answer.body) == SMALL.body_bytes
    assert peak_bytes < 20 * MB


async def test_broken_compression_is_a_broken_body() -> None:
    answer = await answer_to(says(gzipped(b"this is no gzip")))

    assert answer.ending is Ending.PROTOCOL_ERROR
    assert "compression" in answer.error


async def test_compression_that_ends_too_soon_is_a_broken_body() -> None:
    answer = await answer_to(says(gzipped(gzip.compress(b"hello" * 1000)[:-12])))

    assert answer.ending is Ending.PROTOCOL_ERROR
    assert "compression" in answer.error


# --- slow ---


async def test_a_slow_drip_is_read_byte_by_byte() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for byte in CHUNKED + b"5\r\nhello\r\n0\r\n\r\n":
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.0005)

    async with asyncio.timeout(20):
        answer = await answer_to(script)

    assert answer.body == b"hello"
    assert answer.ending is Ending.COMPLETE
    moments = [at_ns for at_ns, _ in answer.blocks]
    assert moments == sorted(moments)


@pytest.mark.parametrize("said", [b"", OK, CHUNKED + b"5\r\nhel"])
async def test_silence_can_be_left_at_any_point(said: bytes) -> None:
    async with asyncio.timeout(20):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await answer_to(_silent_after(said))


def _silent_after(said: bytes) -> Script:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await reader.read()

    return script
