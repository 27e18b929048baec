"""An httpx transport that stamps bytes when they arrive.

httpx stays the client interface (TLS, auth, headers); its own network layer scans its pool for
each stream, which is quadratic, and stamps nothing. Here one connection serves one request, so
that no timed request reuses another's, and `stamped(response)` gives every block with its arrival.

Chosen by the bench's loads at 256 streams, lock-step / jitter: medians of 6 interleaved runs on
2 cores that others kept busy, so that p99 spreads tenfold. TTFT error: median 0.6 / 0.7 ms, p99
8 / 38 ms (bare floor 7 / 42; at most 1.5 times the floor of the same run in 11 of 12 runs), CPU
0.038 / 0.046 s per 1,000 chunks (floor 0.026 / 0.027), streams open 86 / 82 % (floor 93 / 89:
the aim of 95 is not reached here by either). `Protocol` instead of `BufferedProtocol`: CPU 0.055
/ 0.062. Starts without turns: p99 26 ms in lock-step, no difference to be told under jitter.
Reading only at the end: p99 2 / 6 ms at nearly the same CPU; not taken, since stall clocks and
watchers need tokens while they come.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, cast

import httpx

from runs.engine.clock import now_ns
from runs.engine.plan import Limits
from runs.engine.transport.errors import (
    ConnectFailed,
    HeadersTooLarge,
    NoResponse,
    NotHTTP,
    ResetBeforeResponse,
    SlowConnect,
    Stamps,
    TLSFailed,
    WireError,
)
from runs.engine.transport.response import ResponseReader, StampedStream
from runs.engine.transport.wire import Turnstile, Wire

__all__ = [
    "ConnectFailed",
    "HeadersTooLarge",
    "NoResponse",
    "NotHTTP",
    "ResetBeforeResponse",
    "SlowConnect",
    "StampedStream",
    "StampedTransport",
    "Stamps",
    "TLSFailed",
    "WireError",
    "open_client",
    "stamped",
    "stamps_of",
]


def open_client(
    *,
    base_url: str,
    connect_s: float,
    limits: Limits,
    headers: dict[str, str] | None = None,
    verify: bool = True,
) -> httpx.AsyncClient:
    """A client on the stamped transport: no proxies of the environment, no redirects, no pool."""
    client = StampedClient(
        base_url=base_url,
        transport=StampedTransport(connect_s=connect_s, limits=limits, verify=verify),
        headers={"Accept-Encoding": "identity", **(headers or {})},
        timeout=None,
        follow_redirects=False,
        trust_env=False,
    )
    client.headers.pop("Accept", None)  # each request names its own
    return client


def stamped(response: httpx.Response) -> StampedStream:
    """The stamped body of a response of this transport (httpx wraps `response.stream`)."""
    return cast(StampedStream, response.extensions["stamped"])


def stamps_of(response: httpx.Response) -> Stamps:
    """When the request was connected and sent, and the headers arrived."""
    return cast(Stamps, response.extensions["stamps"])


class StampedClient(httpx.AsyncClient):
    """Sends each request as it is, straight to its transport: no redirect, and no cookie that one
    timed request would leave to the next. httpx's way through both costs as much as connecting."""

    async def send(
        self, request: httpx.Request, *, stream: bool = False, **_: Any
    ) -> httpx.Response:
        """Raises the transport's errors."""
        response = await self._transport.handle_async_request(request)
        response.request = request
        if not stream:
            await response.aread()
        return response


class StampedTransport(httpx.AsyncBaseTransport):
    """One connection per request, every received block stamped in the data callback."""

    def __init__(self, *, connect_s: float, limits: Limits, verify: bool = True) -> None:
        self._connect_s = connect_s
        self._limits = limits
        self._verify = verify
        self._ssl: ssl.SSLContext | None = None
        self._turnstile: Turnstile | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises the errors of `errors.py`; a broken body is told by the stream instead.

        A `stamps` extension of the request is filled in while it goes on.
        """
        turnstile = self._turnstile = self._turnstile or Turnstile()
        await turnstile.turn()
        payload = await _serialise(request)
        stamps: Stamps = request.extensions.get("stamps") or Stamps()
        stamps.started_ns = now_ns()
        wire = await self._connect(request.url, stamps, turnstile)
        stamps.connected_ns = wire.connected_ns
        try:
            wire.send(payload)
            stamps.sent_ns = wire.sent_ns
            reader = ResponseReader(wire, self._limits, stamps)
            await reader.read_head()
        except BaseException:
            wire.close()
            raise
        finally:
            stamps.sent_ns = wire.sent_ns
        stream = StampedStream(reader)
        return httpx.Response(
            reader.status,
            headers=reader.headers,
            stream=stream,
            extensions={
                "http_version": reader.http_version,
                "stamped": stream,
                "stamps": stamps,
            },
        )

    async def _connect(self, url: httpx.URL, stamps: Stamps, turnstile: Turnstile) -> Wire:
        loop = asyncio.get_running_loop()
        secure = url.scheme == "https"
        context = self._context() if secure else None
        port = url.port or (443 if secure else 80)
        try:
            async with asyncio.timeout(self._connect_s):
                _, wire = await loop.create_connection(
                    lambda: Wire(turnstile), url.host, port, ssl=context
                )
        except TimeoutError as error:
            raise SlowConnect(
                f"No connection to {url.host}:{port} within {self._connect_s:g} s.", stamps
            ) from error
        except (ssl.SSLError, ConnectionResetError) as error:  # a refusal is no reset
            why = str(error) or "closed during the handshake"
            raise TLSFailed(f"TLS with {url.host}:{port} failed: {why}", stamps) from error
        except (OSError, UnicodeError) as error:  # UnicodeError: no possible host name
            raise ConnectFailed(
                f"Nothing answers at {url.host}:{port} "
                f"({getattr(error, 'strerror', '') or error}).",
                stamps,
            ) from error
        return wire

    def _context(self) -> ssl.SSLContext:
        if self._ssl is None:
            self._ssl = httpx.create_ssl_context(verify=self._verify, trust_env=False)
        return self._ssl


async def _serialise(request: httpx.Request) -> bytes:
    """The whole request as it goes on the wire, HTTP/1.1 with a known length."""
    body = await request.aread()
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines += [b"%s: %s" % header for header in request.headers.raw]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
