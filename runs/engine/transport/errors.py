"""How an exchange can fail before there is a response. Each error tells how far it came."""

from __future__ import annotations

from dataclasses import dataclass

import httpx


@dataclass(slots=True)
class Stamps:
    """Moments on the engine's clock, in ns. None: it did not come to that."""

    started_ns: int = 0  # before connecting
    connected_ns: int | None = None
    sent_ns: int | None = None
    headers_ns: int | None = None
    first_byte_ns: int | None = None


class WireError(httpx.TransportError):
    """Base of the errors below; `stamps` are those reached."""

    def __init__(self, message: str, stamps: Stamps) -> None:
        super().__init__(message)
        self.stamps = stamps


class ConnectFailed(WireError, httpx.ConnectError):
    """Nobody listens, or the name does not resolve."""


class TLSFailed(WireError, httpx.ConnectError):
    """Connected, but the TLS handshake or the certificate failed."""


class SlowConnect(WireError, httpx.ConnectTimeout):
    """No connection within the connect deadline."""


class NoResponse(WireError, httpx.RemoteProtocolError):
    """Closed without a status line."""


class ResetBeforeResponse(NoResponse):
    """Reset without a status line."""


class NotHTTP(WireError, httpx.RemoteProtocolError):
    """Something answered, but not in HTTP."""


class HeadersTooLarge(WireError, httpx.RemoteProtocolError):
    """More header bytes than our limit."""
