"""The ledger as JSON lines, oldest first: enough to verify it anywhere (docs/ledger.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from verdicts.ledger.chain import stamp
from verdicts.ledger.services import read_chain


def json_lines() -> Iterator[str]:
    for link in read_chain():
        yield json.dumps({**asdict(link), "at": stamp(link.at)}, ensure_ascii=False) + "\n"
