"""What may be kept of what servers and people send: bounded, and without secrets."""

from __future__ import annotations

import re

EXCERPT_CHARS = 2000
HIDDEN = "[redacted]"
HEADERS_OF_INTEREST = (
    "content-type",
    "content-encoding",
    "content-length",
    "transfer-encoding",
    "connection",
    "server",
    "retry-after",
    "process-start-time-unix",
    "x-accel-buffering",
    "x-litellm-model-id",
    "x-litellm-model-group",
    "x-litellm-attempted-fallbacks",
    "x-litellm-attempted-retries",
    "x-litellm-cache-key",
    "x-litellm-version",
)
SECRETS = re.compile(
    r"(?i)(bearer\s+|\"?(?:api[_-]?key|authorization|password|secret|token)\"?\s*[:=]\s*\"?)"
    r"[A-Za-z0-9._~+/=-]{8,}"
)
KEYS = re.compile(
    r"\b(?:sk|pk|hf|ghp|gho|xoxb)[-_][A-Za-z0-9_-]{8,}|\bAKIA[A-Z0-9]{12,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+)?"  # JSON web token
)


def storable(text: str) -> str:
    """Without NUL and lone surrogates, which JSON can carry and databases refuse."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def redact(text: str) -> str:
    """Storable, and without what looks like a key or a password."""
    return KEYS.sub(HIDDEN, SECRETS.sub(rf"\1{HIDDEN}", storable(text)))


def excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    """Redacted, and bounded by leaving out the middle."""
    if len(text) > 4 * limit:  # so that looking for keys stays cheap, and none is cut in two
        text = text[: 2 * limit] + text[-2 * limit :]
    text = redact(text)
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} […] {text[-half:]}"


def headers_of_interest(headers: list[tuple[str, str]]) -> dict[str, str]:
    """The few headers that explain a result; never cookies or addresses."""
    wanted = {name.lower(): value for name, value in headers}
    return {name: redact(wanted[name])[:200] for name in HEADERS_OF_INTEREST if name in wanted}
