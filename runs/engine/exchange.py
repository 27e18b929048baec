"""One HTTP exchange: send, stamp, read, and stop when a clock or a person says so.

The clocks are looked at beside the reading, never in its path. Only tokens count as progress:
headers, comments, blanks and empty deltas reset nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
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

TICK_S = 0.2
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
    `stop_when`) closes the connection within a tick of 0.2 s.
    """
    work = _Work(client, spec, deadlines, limits)
    task = asyncio.create_task(work.run())
    watch = _Watch(task, work, progress, cancel, stop_when)
    try:
        await task
    except asyncio.CancelledError:
        if _is_cancelled():
            raise  # by whoever called us, not by the watch
    finally:
        watch.end()
    return work.finish()


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


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
        self._phase = ""
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
        if self._progress is not None and self._work.reading.tokens:
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
        self._stamps = Stamps(started_ns=self.exchange.started_ns)
        self._client = client
        self._spec = spec
        self._deadlines = deadlines
        self._limits = limits
        self._reader = BodyReader(content_type="", line_bytes=limits.line_bytes)
        self._stream: StampedStream | None = None
        self._quiet_until_ns = 0  # no clock can run out before

    @property
    def phase(self) -> str:
        """Where a person who watches sees it."""
        if self.reading.tokens:
            return "decode"
        return "prefill" if self._stamps.sent_ns else "connecting"

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
        """Whole as it is: what httpx's `build_request` merges costs more than sending it."""
        spec, url = self._spec, _address(str(self._client.base_url), self._spec.path)
        content = b"" if spec.body is None else json.dumps(spec.body).encode()
        accept = b"text/event-stream" if spec.stream else b"application/json"
        headers = [(b"Host", url.netloc), *self._client.headers.raw, (b"Accept", accept)]
        if spec.body is not None:
            headers.append((b"Content-Type", b"application/json"))
        if spec.method != "GET":
            headers.append((b"Content-Length", b"%d" % len(content)))
        return httpx.Request(
            spec.method,
            url,
            headers=headers,
            stream=httpx.ByteStream(content),
            extensions={"stamps": self._stamps},
        )

    async def _read(self, response: httpx.Response) -> None:
        self._head(response)
        stream = self._stream = stamped(response)
        reader, reading = self._reader, self._reader.reading
        async for blocks in stream.stamped():
            reader.feed(blocks)
            if reading.is_oversized:
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
        now, done_ns = now_ns(), self.reading.done_ns
        if done_ns is not None:
            self.exchange.lingered = now - done_ns > GRACE_AFTER_DONE_S * 1e9
            return Ending.COMPLETE if self.exchange.lingered else None
        if now < self._quiet_until_ns:
            return None
        end_ns, ending = self._next_end(now)
        if self._read_until_ns(now) > end_ns:
            return ending
        # A token that comes meanwhile starts the idle clock anew, so that no end is nearer.
        self._quiet_until_ns = min(end_ns, now + int(self._deadlines.idle_s * 1e9))
        return None

    def _read_until_ns(self, now: int) -> int:
        """Now; or when the first came of what waits to be read, since it may be a token."""
        unread_ns = self._stream.unread_ns if self._stream is not None else None
        return now if unread_ns is None else unread_ns

    def _next_end(self, now: int) -> tuple[int, Ending]:
        """Which clock runs out first as things are, and when."""
        deadlines, tokens = self._deadlines, self.reading.tokens
        started_ns = self.exchange.started_ns
        total_ns = started_ns + int(deadlines.total_s * 1e9)
        if now > total_ns or not self._spec.stream:
            return total_ns, Ending.TOTAL_TIMEOUT
        if tokens:
            end_ns, ending = tokens[-1].at_ns + int(deadlines.idle_s * 1e9), Ending.IDLE_TIMEOUT
        else:
            has_head = self._stamps.headers_ns is not None
            ending = Ending.PREFILL_TIMEOUT if has_head else Ending.HEADERS_TIMEOUT
            end_ns = started_ns + int(deadlines.prefill_s * 1e9)
        return min((end_ns, ending), (total_ns, Ending.TOTAL_TIMEOUT), key=itemgetter(0))

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


@lru_cache(maxsize=64)
def _address(base_url: str, path: str) -> httpx.URL:
    """Joined and parsed once: httpx's URL parsing costs more than the rest of a request."""
    return httpx.URL(base_url.rstrip("/") + path)


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).split(";")[0].strip().lower()
