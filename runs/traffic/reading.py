"""One line of a delivery: bounded, typed, and refused in words that never quote what it held."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils.dateparse import parse_datetime

from runs.engine.redact import excerpt, redact
from runs.traffic.judging import Reported

LONGEST_LINE = 8 * 1024  # bytes
LONGEST_ID = 120
LONGEST_ROUTE = 200
LONGEST_WORD = 40
LONGEST_ERROR = 200
MOST_MS = 7 * 86_400_000.0
MOST_TOKENS = 100_000_000
AHEAD = timedelta(minutes=5)  # how far another machine's clock may be before ours
NEEDED = ("id", "at", "route", "status", "streamed")
OPTIONAL = (
    "done_seen", "finish_reason", "ttft_ms", "wall_ms", "prompt_tokens", "completion_tokens",
    "error",
)  # fmt: skip


class LineRefused(ValueError):
    """Why a line is no record; the message holds nothing of the line but our own field names."""


def bounded_lines(stream: Any) -> Iterator[bytes]:
    """The lines of a binary stream; of one that is too long only the start, so it is refused."""
    while line := stream.readline(LONGEST_LINE + 1):
        yield line
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = stream.readline(LONGEST_LINE + 1)


def read_line(line: bytes, *, now: datetime) -> Reported:
    """The record on this line. Raises LineRefused."""
    if len(line) > LONGEST_LINE:
        raise LineRefused(f"longer than {LONGEST_LINE:,} bytes")
    try:
        told = json.loads(line, parse_constant=_no_number)
    except LineRefused:
        raise
    except (ValueError, RecursionError):
        raise LineRefused("not JSON in UTF-8") from None
    if not isinstance(told, dict):
        raise LineRefused("not a JSON object")
    return _record(told, now)


def digest(told: Reported, layer: str) -> str:
    """The same for the same facts, in whatever order and spelling they were sent."""
    facts = [layer, *(getattr(told, name) for name in (*NEEDED, *OPTIONAL))]
    text = json.dumps(facts, default=lambda at: at.isoformat(), separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _record(told: dict[str, Any], now: datetime) -> Reported:
    if missing := [name for name in NEEDED if name not in told]:
        raise LineRefused(f"without {', '.join(missing)}")
    if extra := len(set(told) - {*NEEDED, *OPTIONAL}):
        raise LineRefused(
            f"{extra} field(s) that no record has; prompts, answers and headers are never taken"
        )
    record = Reported(
        id=_text(told, "id", LONGEST_ID, needed=True),
        at=_time(told, now),
        route=_text(told, "route", LONGEST_ROUTE, needed=True),
        status=_status(told),
        streamed=_flag(told, "streamed", needed=True) or False,
        done_seen=_flag(told, "done_seen"),
        finish_reason=_text(told, "finish_reason", LONGEST_WORD),
        ttft_ms=_ms(told, "ttft_ms"),
        wall_ms=_ms(told, "wall_ms"),
        prompt_tokens=_tokens(told, "prompt_tokens"),
        completion_tokens=_tokens(told, "completion_tokens"),
        error=_error(told),
    )
    if (record.ttft_ms or 0.0) > (MOST_MS if record.wall_ms is None else record.wall_ms):
        raise LineRefused("ttft_ms is greater than wall_ms")
    return record


def _no_number(name: str) -> Any:
    raise LineRefused("NaN or Infinity, which JSON does not have")


def _text(told: dict[str, Any], name: str, most: int, *, needed: bool = False) -> str:
    value = told.get(name)
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or len(value) > most or not (value or not needed):
        raise LineRefused(f"{name} is no text of {1 if needed else 0} to {most} characters")
    if value and not value.isprintable():
        raise LineRefused(f"{name} holds characters that cannot be printed")
    if redact(value) != value:
        raise LineRefused(f"{name} holds what looks like a key")
    return value


def _error(told: dict[str, Any]) -> str:
    """Redacted and cut; a proxy's message may be long and hold a key."""
    value = told.get("error")
    if value is None:
        return ""
    if not isinstance(value, str):
        raise LineRefused("error is no text")
    words = " ".join(excerpt(value).split())
    return words if len(words) <= LONGEST_ERROR else f"{words[: LONGEST_ERROR - 1]}…"


def _time(told: dict[str, Any], now: datetime) -> datetime:
    try:
        at = parse_datetime(told["at"])
    except (TypeError, ValueError):
        at = None
    if at is None or at.tzinfo is None:
        raise LineRefused("at is no ISO 8601 time with a zone")
    try:
        at = at.astimezone(UTC)
    except OverflowError:
        raise LineRefused("at is no time that a calendar has") from None
    if at > now + AHEAD:
        raise LineRefused("at lies in the future")
    return at


def _flag(told: dict[str, Any], name: str, *, needed: bool = False) -> bool | None:
    value = told.get(name)
    if isinstance(value, bool) or (value is None and not needed):
        return value
    raise LineRefused(f"{name} is neither true nor false")


def _status(told: dict[str, Any]) -> int | None:
    value = told["status"]
    if value is None:
        return None
    if type(value) is not int or not 100 <= value <= 599:
        raise LineRefused("status is neither null nor a whole number from 100 to 599")
    return value


def _ms(told: dict[str, Any], name: str) -> float | None:
    value = told.get(name)
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value <= MOST_MS or not math.isfinite(value):
        raise LineRefused(f"{name} is no number of milliseconds from 0 to {MOST_MS:,.0f}")
    return float(value)


def _tokens(told: dict[str, Any], name: str) -> int | None:
    value = told.get(name)
    if value is None:
        return None
    if type(value) is not int or not 0 <= value <= MOST_TOKENS:
        raise LineRefused(f"{name} is no whole number from 0 to {MOST_TOKENS:,}")
    return value
