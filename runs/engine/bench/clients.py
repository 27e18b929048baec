"""The clients that are compared. Each puts load on the truth server in a process of its own.

`ours` is the engine's whole path: transport, stamps, SSE and JSON reading, timeline. `floor` is
a bare asyncio protocol that stamps and keeps bytes; nothing in Python can do with less. `httpx`
is plain iteration over lines on httpx's own network layer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx

from runs.engine.clock import ms_between, now_ns
from runs.engine.exchange import perform
from runs.engine.plan import Deadlines, Limits
from runs.engine.records import RequestSpec
from runs.engine.timeline import build_timeline, count_tokens
from runs.engine.transport import open_client

WORD = b'"content":" word"'


def body_of(request: int) -> dict[str, Any]:
    """A chat whose seed tells the truth server which request it is."""
    messages = [{"role": "user", "content": "Count from one to fifty."}]
    return {"model": "truth", "stream": True, "messages": messages, "seed": request}


@dataclass(frozen=True, slots=True)
class Measured:
    """What a client says about one request; offsets in ms from its own sending."""

    request: int
    ttft_ms: float
    last_ms: float
    chunks: int

    @classmethod
    def of(cls, request: int, sent_ns: int, arrivals_ns: list[int]) -> Measured:
        first, last = arrivals_ns[0], arrivals_ns[-1]
        return cls(
            request, ms_between(sent_ns, first), ms_between(sent_ns, last), len(arrivals_ns)
        )


Ask = Callable[[int, str], Awaitable[None]]  # request number and path


class Ours:
    def __init__(self, base_url: str) -> None:
        self.measured: list[Measured] = []
        self._client = open_client(base_url=base_url, connect_s=30, limits=Limits())

    async def ask(self, request: int, path: str) -> None:
        spec = RequestSpec("POST", path, body_of(request), stream=True, check="bench", label="")
        exchange, reading = await perform(
            self._client, spec, deadlines=Deadlines(), limits=Limits()
        )
        timeline = build_timeline(exchange, reading, count_tokens(reading))
        offsets = timeline.token_offsets_ms
        self.measured.append(Measured(request, offsets[0], offsets[-1], len(offsets)))

    def close(self) -> None:
        """Nothing is left to do: everything was read while it came."""


class Httpx:
    def __init__(self, base_url: str) -> None:
        self.measured: list[Measured] = []
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        self._client = httpx.AsyncClient(
            base_url=base_url, limits=limits, timeout=None, trust_env=False
        )

    async def ask(self, request: int, path: str) -> None:
        sent_ns, arrivals_ns = now_ns(), []
        async with self._client.stream("POST", path, json=body_of(request)) as response:
            async for line in response.aiter_lines():
                if "content" in line:
                    arrivals_ns.append(now_ns())
        self.measured.append(Measured.of(request, sent_ns, arrivals_ns))

    def close(self) -> None:
        """Its process ends, and with it the pool."""


class Floor:
    def __init__(self, base_url: str) -> None:
        self.measured: list[Measured] = []
        self._address = httpx.URL(base_url)
        self._wires: list[tuple[int, BareWire]] = []

    async def ask(self, request: int, path: str) -> None:
        url = self._address
        body = json.dumps(body_of(request))
        head = f"POST {url.path}{path} HTTP/1.1\r\nHost: {url.host}\r\n"
        payload = f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
        transport, wire = await asyncio.get_running_loop().create_connection(
            lambda: BareWire(payload), url.host, url.port or 80
        )
        await wire.ended
        transport.abort()
        self._wires.append((request, wire))

    def close(self) -> None:
        """Find the words in what was kept."""
        for request, wire in self._wires:
            arrivals = [at for at, data in wire.blocks for _ in range(data.count(WORD))]
            self.measured.append(Measured.of(request, wire.sent_ns, arrivals))


class BareWire(asyncio.Protocol):
    def __init__(self, payload: bytes) -> None:
        self.blocks: list[tuple[int, bytes]] = []
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._payload = payload

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._payload)
        self.sent_ns = now_ns()

    def data_received(self, data: bytes) -> None:
        self.blocks.append((now_ns(), data))
        if data.endswith(b"0\r\n\r\n"):
            self.ended.set_result(None)


CLIENTS: dict[str, type[Ours] | type[Httpx] | type[Floor]] = {
    "floor": Floor,
    "ours": Ours,
    "httpx": Httpx,
}
