"""The timing path: bytes are stamped in the protocol's data callback, before any parsing."""

from __future__ import annotations

import asyncio
from collections import deque

from runs.engine.clock import now_ns

HIGH_WATER_BYTES = 8 * 1024 * 1024
LOW_WATER_BYTES = 1024 * 1024
# A reader that is woken for every token costs more than the tokens; stamps are taken already.
WAKE_AFTER_S = 0.05
CHUNKED_END = b"0\r\n\r\n"


class Wire(asyncio.Protocol):
    """One connection. `blocks` holds (arrival ns, bytes) that the reader has not taken yet."""

    def __init__(self) -> None:
        self.blocks: deque[tuple[int, bytes]] = deque()
        self.is_closed = False
        self.error: BaseException | None = None
        self.closed_ns = 0
        self.sent_ns: int | None = None
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._held_bytes = 0
        self._is_paused = False
        self._is_started = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        # Zero: resume_writing then means that the last byte was handed to the socket.
        transport.set_write_buffer_limits(high=0)

    def data_received(self, data: bytes) -> None:
        self.blocks.append((now_ns(), data))
        self._held_bytes += len(data)
        if self._held_bytes > HIGH_WATER_BYTES:
            self._pause()
        if self._waiter is not None:
            if not self._is_started or data.endswith(CHUNKED_END):
                self._wake()
            elif self._timer is None:
                self._timer = self._loop.call_later(WAKE_AFTER_S, self._wake)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed_ns = now_ns()
        self.is_closed = True
        self.error = exc
        self._wake()

    def send(self, data: bytes) -> None:
        """Hand everything to the socket; `sent_ns` follows at once or when the buffer is empty."""
        assert self._transport is not None
        self._transport.write(data)
        if not self._transport.get_write_buffer_size():
            self.sent_ns = now_ns()

    def resume_writing(self) -> None:
        self.sent_ns = self.sent_ns or now_ns()

    def take(self) -> tuple[int, bytes] | None:
        """The oldest block that was not taken yet."""
        if not self.blocks:
            return None
        stamped = self.blocks.popleft()
        self._is_started = True
        self._held_bytes -= len(stamped[1])
        if self._is_paused and self._held_bytes < LOW_WATER_BYTES:
            self._resume()
        return stamped

    async def more(self) -> None:
        """Wait until there are blocks to take, or the connection is closed."""
        if self.blocks or self.is_closed:
            return
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        """Close now; what was not read is dropped."""
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.abort()

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _pause(self) -> None:
        if self._transport is not None and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()
