"""Small questions to a server, apart from anything timed: bounded, impatient, no redirects."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx

MAX_BYTES = 2 * 1024 * 1024
TIMEOUT_S = 5.0


class PeekError(Exception):
    """The question got no usable answer. `kind` is a stable word, the message is for people."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def json(self) -> Any:
        """The decoded body, or None when it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def object(self) -> dict[str, Any]:
        """The body where it is a JSON object, else an empty one."""
        decoded = self.json
        return decoded if isinstance(decoded, dict) else {}

    @property
    def is_page(self) -> bool:
        """An HTML page stands where an API was expected."""
        kind = self.headers.get("content-type", "").lower()
        return "html" in kind or self.body.lstrip()[:1] == b"<"


class Peek:
    """Asks one server. Paths start with `/` and count from the server's root."""

    def __init__(self, client: httpx.AsyncClient, root: str, timeout_s: float) -> None:
        self.client = client
        self.root = root
        self.timeout_s = timeout_s

    async def get(self, path: str) -> Answer:
        """Raises PeekError when nothing usable came back; a status such as 404 is an answer."""
        return await self._ask("GET", path, None)

    async def post(self, path: str, body: dict[str, Any]) -> Answer:
        """As `get`; only for questions without side effects, such as counting tokens."""
        return await self._ask("POST", path, body)

    async def _ask(self, method: str, path: str, body: dict[str, Any] | None) -> Answer:
        try:
            async with asyncio.timeout(self.timeout_s):
                return await self._read(method, path, body)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise PeekError(
                "timeout",
                f"{self.root} did not answer within {self.timeout_s:g} s. It may be busy, or "
                "something else may listen there. Try again, or check host and port.",
            ) from error
        except httpx.HTTPError as error:
            raise said_plainly(error, self.root) from error

    async def _read(self, method: str, path: str, body: dict[str, Any] | None) -> Answer:
        received = bytearray()
        async with self.client.stream(method, self.root + path, json=body) as response:
            async for part in response.aiter_raw(65536):
                received += part
                if len(received) > MAX_BYTES:
                    raise PeekError(
                        "oversized",
                        f"{self.root} sent more than {MAX_BYTES // 2**20} MiB for a small "
                        "question, so reading was stopped. Is this a model server's address?",
                    )
            return Answer(response.status_code, response.headers, bytes(received))


def said_plainly(error: httpx.HTTPError, root: str) -> PeekError:
    """What went wrong, why, and what to do."""
    cause = str(error) or type(error).__name__
    if isinstance(error, httpx.ConnectError):
        if "ssl" in cause.lower() or "certificate" in cause.lower():
            return PeekError(
                "tls", f"No secure connection to {root}: {cause}. Check the certificate, or http."
            )
        return PeekError(
            "connect",
            f"Nothing answers at {root} ({cause}). Start the server, or check host and port.",
        )
    if isinstance(error, httpx.RemoteProtocolError):
        return PeekError(
            "not_http",
            f"{root} accepts connections but does not answer in HTTP ({cause}). "
            "Another service listens there: check the port.",
        )
    return PeekError(
        "broken", f"The answer of {root} broke off ({cause}). Look at the server's log, try again."
    )


def key_from(variable: str) -> str:
    """The API key that an environment variable holds; empty when none is named or set.

    Blanks and line ends around it are taken off: files and shells leave them there. Anything that
    no HTTP header may carry raises PeekError, which never quotes the key.
    """
    key = os.environ.get(variable, "").strip() if variable else ""
    if "\n" in key or "\r" in key:
        fault = "has more than one line"
    elif not all("!" <= letter <= "~" for letter in key):
        fault = "has a blank or a character that is not ASCII in it"
    else:
        return key
    raise PeekError("key", f"The key in {variable} {fault}. Put the bare key there and restart.")


@cache
def tls() -> ssl.SSLContext:
    """One for all clients: reading the certificates takes longer than a question."""
    return ssl.create_default_context()


@asynccontextmanager
async def open_peek(
    root: str, api_key_env: str = "", timeout_s: float = TIMEOUT_S
) -> AsyncIterator[Peek]:
    """A `Peek` on its own short-lived client; compression is refused, so sizes are real."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "cleanpass"}
    if key := key_from(api_key_env):
        headers["Authorization"] = f"Bearer {key}"
    async with httpx.AsyncClient(
        headers=headers, timeout=timeout_s, follow_redirects=False, trust_env=False, verify=tls()
    ) as client:
        yield Peek(client, root, timeout_s)
