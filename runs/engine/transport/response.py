"""Reads a response out of stamped blocks: the head, then the body block by block."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, AsyncIterator

import httptools
import httpx

from runs.engine.plan import Limits
from runs.engine.records import Ending
from runs.engine.transport.errors import (
    HeadersTooLarge,
    NoResponse,
    NotHTTP,
    ResetBeforeResponse,
    Stamps,
)
from runs.engine.transport.wire import Wire

GZIP_OR_ZLIB = 47  # zlib's window bits for "detect the header"


class ResponseReader:
    """Feeds blocks to httptools. A fresh one for each response."""

    def __init__(self, wire: Wire, limits: Limits, stamps: Stamps) -> None:
        self.wire = wire
        self.limits = limits
        self.stamps = stamps
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.has_head = False
        self.is_complete = False
        self.ending = Ending.EOF
        self.error = ""
        self._body: list[bytes] = []
        self.on_body = self._body.append  # called by httptools, which looks it up once
        self._parser = httptools.HttpResponseParser(self)
        self._first = (0, b"")  # the body bytes that came with the head
        self._body_bytes = 0
        self._seen_bytes = 0
        self._has_framing = False
        self._inflate: zlib._Decompress | None = None

    # --- called by httptools ---

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.has_head:  # trailers change nothing
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status < 200:  # interim answers precede the real one
            self.headers.clear()
            return
        self.has_head = True
        named = {name.lower(): value.lower() for name, value in self.headers}
        chunked = b"chunked" in named.get(b"transfer-encoding", b"")
        self._has_framing = chunked or b"content-length" in named
        if named.get(b"content-encoding", b"identity").strip() in (b"gzip", b"deflate", b"x-gzip"):
            self._inflate = zlib.decompressobj(GZIP_OR_ZLIB)

    def on_message_complete(self) -> None:
        self.is_complete = self.has_head

    # --- called by the transport ---

    @property
    def http_version(self) -> bytes:
        return b"HTTP/" + self._parser.get_http_version().encode()

    async def read_head(self) -> None:
        """Read until the headers are complete. Raises NoResponse, NotHTTP or HeadersTooLarge."""
        while not self.has_head:
            await self.wire.more()
            taken = self.wire.take(1)
            if not taken:
                raise self._no_head()
            at_ns, data = taken[0]
            self.stamps.first_byte_ns = self.stamps.first_byte_ns or at_ns
            self._seen_bytes += len(data)
            self._feed(data)
            if self.has_head:
                self.stamps.headers_ns = at_ns
                self._first = (at_ns, b"".join(self._body))
            elif self.error:
                raise NotHTTP(f"The answer is not HTTP ({self.error}).", self.stamps)
            elif self._seen_bytes > self.limits.header_bytes:
                raise HeadersTooLarge(
                    f"More than {self.limits.header_bytes:,} bytes of headers.", self.stamps
                )
        self._body.clear()

    def _no_head(self) -> NoResponse:
        if self.wire.error is not None:
            return ResetBeforeResponse(
                f"The connection was reset before an answer ({self.wire.error}).", self.stamps
            )
        return NoResponse("The connection was closed before an answer.", self.stamps)

    def _feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.error = "it wants another protocol"
        except httptools.HttpParserError as fault:
            if not self.is_complete:  # bytes after a complete answer are not ours to judge
                self.error = str(fault)

    async def body(self) -> AsyncGenerator[list[tuple[int, bytes]], None]:
        """(arrival ns, body bytes) of each block, in the groups that a turn allows; `ending` and
        `error` tell afterwards why it stopped. A broken body ends the iteration, it does not
        raise."""
        at_ns, data = self._first
        if data and (pieces := self._admit([(at_ns, data)])):
            yield pieces
        while not self._is_over():
            await self.wire.more()
            blocks = self.wire.take()
            if not blocks:
                break
            if pieces := self._pieces(blocks):
                yield pieces
        self._settle()

    def _pieces(self, blocks: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """What each block holds of the body, up to its end."""
        pieces, body = [], self._body
        for at_ns, block in blocks:
            body.clear()
            self._feed(block)
            if body:
                pieces.append((at_ns, body[0] if len(body) == 1 else b"".join(body)))
            if self.is_complete or self.error:
                break
        return self._admit(pieces)

    def _is_over(self) -> bool:
        return self.is_complete or bool(self.error)

    def _admit(self, pieces: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Decompress and count, never beyond the body limit."""
        size_bytes = sum([len(data) for _, data in pieces])
        if self._inflate is None and self._body_bytes + size_bytes <= self.limits.body_bytes:
            self._body_bytes += size_bytes
            return pieces
        admitted = []
        for at_ns, data in pieces:
            if piece := self._bounded(data):
                admitted.append((at_ns, piece))
            if self.ending is not Ending.EOF:
                break
        return admitted

    def _bounded(self, data: bytes) -> bytes:
        room = self.limits.body_bytes - self._body_bytes
        if self._inflate is not None:
            try:
                data = self._inflate.decompress(data, room + 1)
            except zlib.error as fault:
                self.error = f"broken compression ({fault})"
                self.ending = Ending.PROTOCOL_ERROR
                return b""
        if len(data) > room:
            self.error = f"the body passed our limit of {self.limits.body_bytes:,} bytes"
            self.ending = Ending.LIMIT
            data = data[:room]
        self._body_bytes += len(data)
        return data

    def _settle(self) -> None:
        """Name the ending, unless our limit or the decompressor already did."""
        if self.ending in (Ending.LIMIT, Ending.PROTOCOL_ERROR):
            return
        if self.is_complete and self._is_cut_inside():
            self.ending, self.error = Ending.PROTOCOL_ERROR, "the compression ended too soon"
        elif self.is_complete:
            self.ending = Ending.COMPLETE
        elif self.error:
            self.ending = Ending.PROTOCOL_ERROR
        elif self.wire.error is not None:
            self.ending, self.error = Ending.RESET, str(self.wire.error)
        elif self._has_framing:
            self.ending, self.error = Ending.CLOSED_EARLY, "closed before the body was complete"
        else:
            self.ending = Ending.EOF

    def _is_cut_inside(self) -> bool:
        """The framing is whole, but what it holds is not."""
        return bool(self._body_bytes) and self._inflate is not None and not self._inflate.eof


class StampedStream(httpx.AsyncByteStream):
    """The body. Read it once: `stamped()` for the instrument, plain iteration for httpx."""

    def __init__(self, reader: ResponseReader) -> None:
        self._reader = reader

    @property
    def ending(self) -> Ending:
        return self._reader.ending

    @property
    def error(self) -> str:
        return self._reader.error

    @property
    def is_complete(self) -> bool:
        return self._reader.is_complete

    @property
    def closed_ns(self) -> int | None:
        """When the peer's close was seen, if it was."""
        return self._reader.wire.closed_ns or None

    @property
    def unread_ns(self) -> int | None:
        """When the oldest block arrived that waits for its reader, if one does."""
        blocks = self._reader.wire.blocks
        return blocks[0][0] if blocks else None

    def stamped(self) -> AsyncGenerator[list[tuple[int, bytes]], None]:
        """(arrival ns, bytes after transfer decoding) of each received block, a few at a time."""
        return self._reader.body()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for blocks in self._reader.body():
            for _, data in blocks:
                yield data
        if self.ending not in (Ending.COMPLETE, Ending.EOF):
            raise httpx.RemoteProtocolError(f"{self.ending.value}: {self.error}")

    async def aclose(self) -> None:
        self._reader.wire.close()
