"""A server whose schedule is known and which logs when each chunk was handed to the kernel.

It runs in a process of its own (`python -m runs.engine.bench.truth`), prints its port, and ends
when its standard input is closed. CLOCK_MONOTONIC is one clock for all processes of a machine, so
that its moments can be compared with a client's. `POST /v1/...?jitter=0` streams the request that
the body's `seed` numbers, `GET /log` gives the moments of all streams since the last look.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import random
import sys
from typing import ClassVar
from urllib.parse import urlsplit

from runs.engine.clock import now_ns

CHUNKS = 50
TTFT_S, TTFT_JITTER_S = 0.2, 0.1
ITL_S, ITL_JITTER_S = 0.02, 0.005
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = (
    '{"id":"chatcmpl-truth","object":"chat.completion.chunk","created":1,"model":"truth",'
    '"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}'
)

Moments = tuple[int, list[int]]  # request received, each chunk handed over; ns


def framed(*events: str) -> bytes:
    body = "".join(f"data: {event}\n\n" for event in events).encode()
    return b"%x\r\n%s\r\n" % (len(body), body)


TOKEN = framed(EVENT % ('{"content":" word"}', "null"))
FINISH = framed(EVENT % ("{}", '"stop"'), "[DONE]") + b"0\r\n\r\n"


def schedule(request: int, *, jitter: bool) -> list[float]:
    """Seconds from receiving a request to each of its chunks."""
    if not jitter:
        return [TTFT_S + ITL_S * chunk for chunk in range(CHUNKS)]
    draw = random.Random(request)
    at = draw.uniform(TTFT_S - TTFT_JITTER_S, TTFT_S + TTFT_JITTER_S)
    moments = [at]
    for _ in range(CHUNKS - 1):
        at += draw.uniform(ITL_S - ITL_JITTER_S, ITL_S + ITL_JITTER_S)
        moments.append(at)
    return moments


class TruthServer(asyncio.Protocol):
    """One connection: whole requests in, scheduled chunks out, as many requests as wanted."""

    log: ClassVar[dict[int, Moments]] = {}

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        at_ns = now_ns()
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or len(body) < _content_length(head):
            return
        self._received = b""
        url = urlsplit(head.split(b" ", 2)[1].decode())
        if url.path == "/log":
            self._tell()
        else:
            self._start(json.loads(body)["seed"], at_ns, jitter=url.query == "jitter=1")

    def _tell(self) -> None:
        body = json.dumps(self.log).encode()
        self.log.clear()
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        self._transport.write(head + body)
        self._transport.close()

    def _start(self, request: int, at_ns: int, *, jitter: bool) -> None:
        self._handed: list[int] = []
        self.log[request] = (at_ns, self._handed)
        self._transport.write(HEAD)
        start = self._loop.time()
        self._moments = [start + offset for offset in schedule(request, jitter=jitter)]
        self._timer = self._loop.call_at(self._moments[0], self._next)

    def _next(self) -> None:
        handed = self._handed
        handed.append(now_ns())
        self._transport.write(TOKEN)
        if len(handed) < CHUNKS:
            self._timer = self._loop.call_at(self._moments[len(handed)], self._next)
        else:
            self._transport.write(FINISH)


def _content_length(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next((int(line[15:]) for line in lines if line[:15] == b"content-length:"), 0)


async def serve() -> None:
    """Until standard input is closed, which happens when the parent ends in any way."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(TruthServer, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    with contextlib.suppress(OSError):  # ahead of its clients, where the system lets us
        os.nice(-10)
    gc.disable()
    asyncio.run(serve())
