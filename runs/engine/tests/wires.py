"""Servers that say exactly the bytes a test gives them, and what the transport makes of those."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from runs.engine.plan import Limits
from runs.engine.records import Ending
from runs.engine.transport import Stamps, open_client, stamped, stamps_of

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LIMITS = Limits()


def says(*pieces: bytes) -> Script:
    """Reads the request's head, sends the pieces one by one, closes."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return script


def says_endlessly(head: bytes, block: bytes) -> Script:
    """Goes on until the client hangs up."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        while True:
            writer.write(block)
            await writer.drain()

    return script


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def serving(script: Script, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """The root address of a server that treats each connection to the script."""
    tasks: set[asyncio.Task[None]] = set()

    async def treat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await script(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(treat, "127.0.0.1", 0, ssl=tls)
    scheme = "https" if tls else "http"
    try:
        yield f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came through the transport."""

    status: int
    headers: httpx.Headers
    http_version: str
    blocks: list[tuple[int, bytes]]
    ending: Ending
    error: str
    stamps: Stamps

    @property
    def body(self) -> bytes:
        return b"".join(data for _, data in self.blocks)


async def fetch(
    url: str, *, limits: Limits = LIMITS, connect_s: float = 5.0, content: bytes = b"{}"
) -> Answer:
    """One request, read to its end, whatever that is. Raises the transport's errors."""
    async with (
        open_client(base_url=url, connect_s=connect_s, limits=limits) as client,
        client.stream("POST", "/v1/chat/completions", content=content) as response,
    ):
        stream = stamped(response)
        blocks = [block async for some in stream.stamped() for block in some]
        return Answer(
            response.status_code,
            response.headers,
            response.http_version,
            blocks,
            stream.ending,
            stream.error,
            stamps_of(response),
        )


async def answer_to(script: Script, *, limits: Limits = LIMITS, content: bytes = b"{}") -> Answer:
    async with serving(script) as url:
        return await fetch(url, limits=limits, content=content)
