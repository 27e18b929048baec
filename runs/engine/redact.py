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
KEYS = re.compile(r"\b(?:sk|pk|hf|ghp|xoxb)[-_][A-Za-z0-9_-]{8,}")


def redact(text: str) -> str:
    """Without what looks like a key or a password."""
    return KEYS.sub(HIDDEN, SECRETS.sub(rf"\1{HIDDEN}", text))


def excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    """Redacted, and bounded by leaving out the middle."""
    text = redact(text)
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} […] {text[-half:]}"


def headers_of_interest(headers: list[tuple[str, str]]) -> dict[str, str]:
    """The few headers that explain a result; never cookies or addresses."""
    wanted = {name.lower(): value for name, value in headers}
    return {name: redact(wanted[name])[:200] for name in HEADERS_OF_INTEREST if name in wanted}
