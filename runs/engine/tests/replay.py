"""Plays recorded exchanges over real sockets: one connection after another, delays scaled down."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER for no time at all: close sends RST
REASONS = {200: "OK", 404: "Not Found", 500: "Internal Server Error", 502: "Bad Gateway"}


@dataclass
class Replay:
    """A server that answers the next exchange of a case, whatever is asked. `scale` multiplies
    every delay."""

    exchanges: list[dict[str, Any]]
    scale: float = 0.02
    port: int = 0
    position: int = 0
    _server: asyncio.Server | None = None
    _socket: socket.socket | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def current(self) -> dict[str, Any]:
        return dict(self.exchanges[self.position]["response"])

    async def listen(self) -> None:
        """Listen on a port that stays the same while the server is up and down."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def advance_to(self, position: int) -> None:
        """Make ready for an exchange: one whose port is closed refuses connections."""
        self.position = position
        refuses = self.current.get("tcp") == "refuse"
        if refuses:
            await self.shut()
        elif self._server is None:
            await self.listen()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        response = self.current
        tcp = response.get("tcp")
        if tcp:
            await self._tcp(tcp, response, reader, writer)
            return
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(v) for k, v in _fields(head) if k == "content-length"),
            0,
        )
        await reader.readexactly(length)
        await self._pause(response.get("headers_delay_ms", 0))
        await self._play(response, reader, writer)
        await self._end(response.get("end", "complete"), reader, writer)

    async def _tcp(
        self,
        tcp: str,
        response: dict[str, Any],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        await self._pause(response.get("delay_ms", 0))
        if tcp == "accept_then_hang":
            await reader.read(-1)
        elif tcp == "accept_then_rst":
            await reader.readuntil(b"\r\n\r\n")
            _reset(writer)

    async def _play(
        self,
        response: dict[str, Any],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """A client that leaves after a chunk is waited for there, since delays are scaled."""
        framing = response.get("framing", "content_length")
        bodies = [chunk_bytes(chunk) for chunk in response.get("chunks", [])]
        writer.write(_head(response, framing, sum(map(len, bodies))))
        await writer.drain()
        leaves_after = self.exchanges[self.position].get("client", {}).get("abort_after_chunk")
        for place, (chunk, data) in enumerate(
            zip(response.get("chunks", []), bodies, strict=True)
        ):
            await self._pause(chunk.get("delay_ms", 0))
            framed = b"%x\r\n%s\r\n" % (len(data), data) if framing == "chunked" else data
            if data:
                writer.write(framed)
                await writer.drain()
            if place == leaves_after:
                await reader.read(-1)
                return

    async def _end(
        self, end: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        framing = self.current.get("framing")
        if end == "rst":
            await asyncio.sleep(0.02)  # the kernel drops unread data of a reset connection
            _reset(writer)
        elif end == "hang":
            await reader.read(-1)
        elif end in ("complete", "keepalive_then_fin") and framing == "chunked":
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    async def _pause(self, delay_ms: float) -> None:
        if delay_ms:
            await asyncio.sleep(delay_ms / 1000 * self.scale)


def chunk_bytes(chunk: dict[str, Any]) -> bytes:
    """The bytes of one chunk: text, base64, or a fill of prefix + unit x count + suffix."""
    if "b64" in chunk:
        return base64.b64decode(chunk["b64"])
    if "fill" in chunk:
        fill = chunk["fill"]
        text = fill.get("prefix", "") + fill["unit"] * fill["count"] + fill.get("suffix", "")
        return str(text).encode()
    return str(chunk.get("text", "")).encode()


def _fields(head: bytes) -> list[tuple[str, str]]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return [(n.strip().lower(), v.strip()) for n, _, v in (line.partition(":") for line in lines)]


def _head(response: dict[str, Any], framing: str, length: int) -> bytes:
    status = response["status"]
    lines = [f"HTTP/{response.get('http_version', '1.1')} {status} {REASONS.get(status, 'Said')}"]
    lines += [f"{name}: {value}" for name, value in response.get("headers", [])]
    lines += {
        "chunked": ["Transfer-Encoding: chunked"],
        "content_length": [f"Content-Length: {length}"],
        "eof": ["Connection: close"],
    }[framing]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _reset(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    writer.transport.abort()


@asynccontextmanager
async def replaying(case: dict[str, Any], scale: float) -> AsyncIterator[Replay]:
    """The case's server, on a port of its own."""
    server = Replay(case["wire"].get("exchanges", []), scale)
    await server.listen()
    try:
        yield server
    finally:
        await server.shut()


def load_cases(text: str) -> list[dict[str, Any]]:
    """One JSON object a line."""
    return [json.loads(line) for line in text.splitlines() if line.strip()]
