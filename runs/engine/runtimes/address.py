"""An address as people type it, and its parts as the engine needs them."""

from __future__ import annotations

from urllib.parse import urlsplit

SUFFIXES = ("/v1", "/api")


def canonical(address: str) -> str:
    """The API base, such as `http://127.0.0.1:8080/v1`, from whatever was typed or pasted.

    Raises ValueError with a sentence when it is no HTTP address.
    """
    text = address.strip()
    text = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{address!r} is no address: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{address!r} is no address of a server, such as http://127.0.0.1:8080.")
    if parts.username or parts.password:
        raise ValueError("Leave keys out of the address: name an environment variable instead.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    return place + api_path(parts.path)


def api_path(path: str) -> str:
    """Up to and including `/v1` (or Ollama's `/api`); `/v1` where neither was given."""
    for suffix in SUFFIXES:
        before, found, _ = f"{path.rstrip('/')}/".partition(f"{suffix}/")
        if found:
            return before + suffix
    return path.rstrip("/") + "/v1"


def root_of(base_url: str) -> str:
    """The server's root: the base URL without its API suffix."""
    base = base_url.rstrip("/")
    for suffix in SUFFIXES:
        base = base.removesuffix(suffix)
    return base
