"""A WebSocket client that talks to the ASGI application directly (no server, no port)."""

from __future__ import annotations

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator

from config.asgi import application

PATIENCE_S = 5.0


class Socket:
    """One connection to a run's log, with the headers that a browser sends."""

    def __init__(self, path: str, *, session: str = "", origin: str = "http://localhost") -> None:
        headers = [(b"origin", origin.encode()), (b"host", b"localhost")]
        if session:
            headers.append((b"cookie", f"sessionid={session}".encode()))
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": headers,
            "subprotocols": [],
        }
        self._wire = ApplicationCommunicator(application, scope)

    async def connect(self) -> bool:
        await self._wire.send_input({"type": "websocket.connect"})
        answer = await self.receive()
        return bool(answer["type"] == "websocket.accept")

    async def send(self, text: str) -> None:
        await self._wire.send_input({"type": "websocket.receive", "text": text})

    async def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = await self._wire.receive_output(PATIENCE_S)
        return message

    async def page(self) -> dict[str, Any]:
        page: dict[str, Any] = json.loads((await self.receive())["text"])
        return page

    async def disconnect(self) -> None:
        await self._wire.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._wire.wait(PATIENCE_S)
