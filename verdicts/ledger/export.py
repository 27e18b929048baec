"""The ledger as JSON lines, oldest first: enough to verify it anywhere (docs/ledger.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC

from verdicts.ledger.services import read_chain


def json_lines() -> Iterator[str]:
    for link in read_chain():
        at = link.at.astimezone(UTC).isoformat(timespec="microseconds")
        yield json.dumps({**asdict(link), "at": at}, ensure_ascii=False) + "\n"
