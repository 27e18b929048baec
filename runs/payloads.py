"""Makes what a server said storable: bounded, finite, and free of what databases refuse."""

from __future__ import annotations

import math
from typing import Any

TEXT_LIMIT = 4_000  # characters of one string
ITEMS_LIMIT = 400  # entries of one list or object
DEPTH_LIMIT = 8


def clean_text(text: str, limit: int = TEXT_LIMIT) -> str:
    """No NUL, no lone surrogate (PostgreSQL refuses both), at most `limit` characters."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def clean(value: Any, *, depth: int = 0) -> Any:
    """A JSON value within our limits; NaN and infinity become None."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return clean_text(value)
    if depth >= DEPTH_LIMIT:
        return "…"
    if isinstance(value, dict):
        pairs = list(value.items())[:ITEMS_LIMIT]
        return {clean_text(str(key), 200): clean(item, depth=depth + 1) for key, item in pairs}
    if isinstance(value, list | tuple):
        return [clean(item, depth=depth + 1) for item in value[:ITEMS_LIMIT]]
    return clean_text(str(value))
