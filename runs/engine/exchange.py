"""One HTTP exchange: send, stamp, read, and stop when a clock or a person says so.

The clocks are looked at beside the reading, never in its path. Only tokens count as progress:
headers, comments, blanks and empty deltas reset nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx

from runs.engine.clock import ms_between, now_ns
from runs.engine.observer import Cancel
from runs.engine.plan import Deadlines, Limits
from runs.engine.reading import BodyReader, Reading
from runs.engine.records import Ending, Exchange, RequestSpec
from runs.engine.transport import (
    ConnectFailed,
    HeadersTooLarge,
    NotHTTP,
    ResetBeforeResponse,
    SlowConnect,
    StampedStream,
    Stamps,
    TLSFailed,
    WireError,
    stamped,
)

TICK_S = 0.1
PROGRESS_EVERY_TICKS = 2
GRACE_AFTER_DONE_S = 1.0
TAIL_CHARS = 400

Progress = Callable[[str, dict[str, Any]], None]

ENDING_OF_ERROR: dict[type[WireError], Ending] = {
    TLSFailed: Ending.TLS_FAILED,
    ConnectFailed: Ending.CONNECT_FAILED,
    SlowConnect: Ending.CONNECT_FAILED,
    ResetBeforeResponse: Ending.RESET,
    NotHTTP: Ending.PROTOCOL_ERROR,
    HeadersTooLarge: Ending.LIMIT,
}


async def perform(
    client: httpx.AsyncClient,
    spec: RequestSpec,
    *,
    deadlines: Deadlines,
    limits: Limits,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    stop_when: Callable[[Reading], bool] | None = None,
) -> tuple[Exchange, Reading]:
    """Send one request and read its answer to the end, whatever that is. Never raises for what
    a server does: `exchange.ending` and `exchange.error` tell. A stop (clock, cancel, or
    `stop_when`) closes the connection within a tick of 0.1 s.
    """
    work = _Work(client, spec, deadlines, limits)
    task = asyncio.create_task(work.run())
    watch = _Watch(task, work, progress, cancel, stop_when)
    try:
        await asyncio.wait({task})
    finally:
        watch.end()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    if not task.cancelled():
        task.result()
    return work.finish()


class _Watch:
    """Ticks beside the work, and cancels it when it has to be stopped. A timer, not a task:
    with hundreds of requests open, ticks must cost next to nothing."""

    def __init__(
        self,
        task: asyncio.Task[None],
        work: _Work,
        progress: Progress | None,
        cancel: Cancel | None,
        stop_when: Callable[[Reading], bool] | None,
    ) -> None:
        self._task, self._work, self._progress = task, work, progress
        self._cancel, self._stop_when = cancel, stop_when
        self._loop = asyncio.get_running_loop()
        self._phase, self._ticks = "", 0
        self._timer = self._loop.call_later(TICK_S, self._tick)

    def end(self) -> None:
        self._timer.cancel()
        self._tell_phase()

    def _tick(self) -> None:
        if self._task.done():
            return
        self._timer = self._loop.call_later(TICK_S, self._tick)
        stop = self._due()
        if stop is not None:
            self._work.stop(stop)
            self._task.cancel()
            self._timer.cancel()
            return
        self._tell_phase()
        self._ticks += 1
        is_time = self._ticks % PROGRESS_EVERY_TICKS == 0
        if is_time and self._progress is not None and self._work.reading.tokens:
            self._progress("request.progress", self._work.snapshot())

    def _due(self) -> Ending | None:
        if self._cancel is not None and self._cancel.is_set():
            return Ending.CANCELLED
        stop = self._work.due()
        if stop is None and self._stop_when is not None and self._stop_when(self._work.reading):
            return Ending.CANCELLED
        return stop

    def _tell_phase(self) -> None:
        if self._progress is not None and self._work.phase != self._phase:
            self._phase = self._work.phase
            self._progress("request.phase", {"phase": self._phase})


class _Work:
    """The exchange while it goes on. `run` is the only thing in the timing path."""

    def __init__(
        self, client: httpx.AsyncClient, spec: RequestSpec, deadlines: Deadlines, limits: Limits
    ) -> None:
        self.exchange = Exchange(spec, started_ns=now_ns())
        self.phase = "connecting"
        self._stamps = Stamps(started_ns=self.exchange.started_ns)
        self._client = client
        self._spec = spec
        self._deadlines = deadlines
        self._limits = limits
        self._reader = BodyReader(content_type="", line_bytes=limits.line_bytes)
        self._stream: StampedStream | None = None

    @property
    def reading(self) -> Reading:
        return self._reader.reading

    async def run(self) -> None:
        try:
            response = await self._client.send(self._request(), stream=True)
        except WireError as error:
            self._failed(error)
            return
        try:
            await self._read(response)
        finally:
            await response.aclose()

    def _request(self) -> httpx.Request:
        body = self._spec.body
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if content else {}
        accept = "text/event-stream" if self._spec.stream else "application/json"
        return self._client.build_request(
            self._spec.method,
            self._spec.path,
            content=content,
            headers={"Accept": accept, **headers},
            extensions={"stamps": self._stamps},
        )

    async def _read(self, response: httpx.Response) -> None:
        self._head(response)
        stream = self._stream = stamped(response)
        chunks, reader = self.exchange.chunks, self._reader
        async for at_ns, data in stream.stamped():
            chunks.append((at_ns, data))
            reader.feed(at_ns, data)
            if reader.reading.is_oversized:
                self.exchange.ending = Ending.LIMIT
                self.exchange.error = "one line of the stream passed our limit"
                return
        self.exchange.ending, self.exchange.error = stream.ending, stream.error

    def _head(self, response: httpx.Response) -> None:
        exchange = self.exchange
        exchange.status = response.status_code
        exchange.http_version = response.http_version
        exchange.headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in response.headers.raw
        ]
        self._reader.reading.content_type = _media_type(response)

    def _failed(self, error: WireError) -> None:
        exchange = self.exchange
        exchange.ending = ENDING_OF_ERROR.get(type(error), Ending.NO_RESPONSE)
        exchange.error = str(error)

    # --- beside the timing path ---

    def due(self) -> Ending | None:
        """The clock that has run out, if one has. Unstreamed answers have the total alone."""
        self._advance()
        now, exchange, reading = now_ns(), self.exchange, self.reading
        started_s = (now - exchange.started_ns) / 1e9
        if reading.done_ns is not None:
            if (now - reading.done_ns) / 1e9 > GRACE_AFTER_DONE_S:
                exchange.lingered = True
                return Ending.COMPLETE
            return None
        if started_s > self._deadlines.total_s:
            return Ending.TOTAL_TIMEOUT
        if not self._spec.stream:
            return None
        if not reading.tokens:
            if started_s <= self._deadlines.prefill_s:
                return None
            return Ending.PREFILL_TIMEOUT if self._stamps.headers_ns else Ending.HEADERS_TIMEOUT
        idle_s = (now - reading.tokens[-1].at_ns) / 1e9
        return Ending.IDLE_TIMEOUT if idle_s > self._deadlines.idle_s else None

    def _advance(self) -> None:
        if self.reading.tokens:
            self.phase = "decode"
        elif self._stamps.sent_ns:
            self.phase = "prefill"

    def stop(self, ending: Ending) -> None:
        """Record why; the caller cancels the work, which closes the connection."""
        self.exchange.ending = ending
        self.exchange.ended_ns = now_ns()

    def snapshot(self) -> dict[str, Any]:
        """Progress so far, for people who watch."""
        reading, sent_ns = self.reading, self._stamps.sent_ns or self.exchange.started_ns
        first_ns = reading.first_ns()
        return {
            "chunks": len(reading.tokens),
            "chars": sum(token.chars for token in reading.tokens),
            "ttft_ms": None if first_ns is None else ms_between(sent_ns, first_ns),
            "text": self._reader.tail(TAIL_CHARS),
        }

    def finish(self) -> tuple[Exchange, Reading]:
        """Close the books: the end is the last byte, the peer's close, or our own stop."""
        self.phase = "done"
        exchange = self.exchange
        ended_by_itself = exchange.ending in (Ending.COMPLETE, Ending.EOF)
        reading = self._reader.close(is_whole=ended_by_itself)
        stamps = self._stamps
        exchange.started_ns = stamps.started_ns
        exchange.connected_ns, exchange.headers_ns = stamps.connected_ns, stamps.headers_ns
        exchange.sent_ns = stamps.sent_ns or exchange.started_ns
        if not exchange.ended_ns:
            closed_ns = self._stream.closed_ns if self._stream else None
            is_open_end = exchange.ending in (Ending.COMPLETE, Ending.LIMIT)
            exchange.ended_ns = (
                (reading.last_byte_ns if is_open_end else closed_ns)
                or reading.last_byte_ns
                or now_ns()
            )
        return exchange, reading


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).split(";")[0].strip().lower()
