"""The timing path: bytes are stamped in the protocol's data callback, before any parsing.

Reading and stamping share one event loop, so readers take turns: a few of them run, then the
selector is looked at again and whatever arrived meanwhile gets its stamp, then the next few run.
"""

from __future__ import annotations

import asyncio
from collections import deque

from runs.engine.clock import now_ns

HIGH_WATER_BYTES = 8 * 1024 * 1024
LOW_WATER_BYTES = 1024 * 1024
# A reader that is woken for every token costs more than the tokens; stamps are taken already.
ROUND_S = 0.2
READERS_A_PASS = 4
BLOCKS_A_TURN = 16
BLOCK_BYTES = 64 * 1024
CHUNKED_END = b"0\r\n\r\n"


class Turnstile:
    """Wakes waiting readers: in rounds, and only a few of them in each pass of the event loop."""

    def __init__(self) -> None:
        self.buffer = memoryview(bytearray(BLOCK_BYTES))  # all wires receive into it, in turn
        self._loop = asyncio.get_running_loop()
        self._patient: list[asyncio.Future[None]] = []  # for the next round
        self._due: deque[asyncio.Future[None]] = deque()
        self._is_turning = False

    def enter(self, waiter: asyncio.Future[None], *, in_a_hurry: bool) -> None:
        if in_a_hurry:
            self._due.append(waiter)
            self._start()
            return
        if not self._patient:
            self._loop.call_later(ROUND_S, self._round)
        self._patient.append(waiter)

    async def turn(self) -> None:
        """Wait for a place in the next pass, so that many that start at once delay no stamp."""
        waiter = self._loop.create_future()
        self.enter(waiter, in_a_hurry=True)
        await waiter

    def _round(self) -> None:
        self._due.extend(self._patient)
        self._patient.clear()
        self._start()

    def _start(self) -> None:
        if not self._is_turning:
            self._is_turning = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        for _ in range(min(READERS_A_PASS, len(self._due))):
            waiter = self._due.popleft()
            if not waiter.done():
                waiter.set_result(None)
        self._is_turning = bool(self._due)
        if self._is_turning:
            self._loop.call_soon(self._turn)


class Wire(asyncio.BufferedProtocol):
    """One connection. `blocks` holds (arrival ns, bytes) that the reader has not taken yet.

    Buffered: a plain protocol's `recv` maps 256 KiB anew for each block, however small.
    """

    def __init__(self, turnstile: Turnstile) -> None:
        self.blocks: list[tuple[int, bytes]] = []
        self.is_closed = False
        self.error: BaseException | None = None
        self.connected_ns = 0
        self.closed_ns = 0
        self.sent_ns: int | None = None
        self._transport: asyncio.Transport | None = None
        self._turnstile = turnstile
        self._waiter: asyncio.Future[None] | None = None
        self._is_called = False  # whether the waiter has its place in the turnstile
        self._held_bytes = 0
        self._is_paused = False
        self._is_started = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.connected_ns = now_ns()
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        # Zero: resume_writing then means that the last byte was handed to the socket.
        transport.set_write_buffer_limits(high=0)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._turnstile.buffer

    def buffer_updated(self, nbytes: int) -> None:
        at_ns = now_ns()
        data = bytes(self._turnstile.buffer[:nbytes])
        self.blocks.append((at_ns, data))
        self._held_bytes += nbytes
        if self._held_bytes > HIGH_WATER_BYTES:
            self._pause()
        if self._waiter is not None:
            in_a_hurry = not self._is_started or data.endswith(CHUNKED_END)
            if in_a_hurry or not self._is_called:
                self._call(in_a_hurry=in_a_hurry)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed_ns = now_ns()
        self.is_closed = True
        self.error = exc
        if self._waiter is not None:
            self._call(in_a_hurry=True)

    def send(self, data: bytes) -> None:
        """Hand everything to the socket; `sent_ns` follows at once or when the buffer is empty."""
        assert self._transport is not None
        self._transport.write(data)
        if not self._transport.get_write_buffer_size():
            self.sent_ns = now_ns()

    def resume_writing(self) -> None:
        self.sent_ns = self.sent_ns or now_ns()

    def take(self, most: int = BLOCKS_A_TURN) -> list[tuple[int, bytes]]:
        """The oldest blocks that were not taken yet, none if there are none."""
        taken = self.blocks[:most]
        del self.blocks[:most]
        self._is_started = self._is_started or bool(taken)
        self._held_bytes -= sum([len(data) for _, data in taken])
        if self._is_paused and self._held_bytes < LOW_WATER_BYTES:
            self._resume()
        return taken

    async def more(self) -> None:
        """Wait for a turn, and until there are blocks to take or the connection is closed."""
        self._waiter = asyncio.get_running_loop().create_future()
        self._is_called = False
        if self.blocks or self.is_closed:
            self._call(in_a_hurry=True)
        try:
            await self._waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        """Close now; what was not read is dropped."""
        if self._transport is not None:
            self._transport.abort()

    def _call(self, *, in_a_hurry: bool) -> None:
        assert self._waiter is not None
        self._is_called = True
        self._turnstile.enter(self._waiter, in_a_hurry=in_a_hurry)

    def _pause(self) -> None:
        if self._transport is not None and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()
