"""The ledger as JSON lines, oldest first: enough to verify it anywhere (docs/ledger.md)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from itertools import islice

from asgiref.sync import sync_to_async

from verdicts.ledger.chain import Link, Reader, Verified, stamp
from verdicts.ledger.services import read_chain

LINES_AT_ONCE = 500


def json_lines() -> Iterator[str]:
    for link in read_chain():
        yield json.dumps({**asdict(link), "at": stamp(link.at)}, ensure_ascii=False) + "\n"


async def stream() -> AsyncIterator[str]:
    """Some hundred lines at a time, so that the whole is never in memory."""
    lines = json_lines()
    while part := await sync_to_async(_some)(lines):
        yield part


def _some(lines: Iterator[str]) -> str:
    return "".join(islice(lines, LINES_AT_ONCE))


def verify_export(lines: Iterable[str]) -> Verified:
    """Without the database: an export's last entry is its head."""
    reader = Reader()
    reader.read(map(link_of, lines))
    return reader.end()


def link_of(line: str) -> Link:
    """Raises TypeError or ValueError for what no export holds."""
    row = dict(json.loads(line))
    at = row.get("at")
    return Link(**{**row, "at": at and datetime.fromisoformat(at)})
