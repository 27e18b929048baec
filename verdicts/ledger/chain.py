"""The chain itself: what is hashed, and how a reader finds the first broken link. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

START = "0" * 64  # what the first entry is chained to


@dataclass(frozen=True, slots=True)
class Link:
    """One entry as it is chained. `at` is UTC, to the microsecond."""

    seq: int
    kind: str
    at: datetime
    actor_name: str
    subject_kind: str
    subject_id: int
    title: str
    path: str
    payload: Any
    content_digest: str
    previous_hash: str
    entry_hash: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """`why` is empty for a whole chain; else the first broken entry and what is wrong with it."""

    entries: int
    head_hash: str
    broken_seq: int | None = None
    why: str = ""


def canonical(value: Any) -> bytes:
    """JSON that the same content always gives: sorted keys, no blanks, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def digest(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def hash_of(link: Link) -> str:
    """SHA-256 over everything but the hash itself."""
    return digest(
        [
            link.seq,
            link.kind,
            link.at.astimezone(UTC).isoformat(timespec="microseconds"),
            link.actor_name,
            link.subject_kind,
            link.subject_id,
            link.title,
            link.path,
            link.content_digest,
            link.previous_hash,
        ]
    )


class Reader:
    """Reads the chain in order, in as many parts as come, up to the first broken entry.

    `anchor` is a hash that somebody kept outside, which must be met on the way.
    """

    def __init__(self, anchor: str = "") -> None:
        self.entries = 0
        self.broken_seq: int | None = None
        self.why = ""
        self._head_hash = START
        self._anchor = anchor
        self._is_anchored = not anchor

    def read(self, links: Iterable[Link]) -> None:
        for link in links:
            self.why = fault_of(link, self.entries + 1, self._head_hash)
            if self.why:
                self.broken_seq = link.seq
                return
            self.entries += 1
            self._head_hash = link.entry_hash
            self._is_anchored = self._is_anchored or link.entry_hash == self._anchor

    def end(self, *, count: int, last_hash: str) -> Verified:
        """All was read: compare with what the head says."""
        if not self.why:
            self._compare(count, last_hash)
        return Verified(self.entries, self._head_hash, self.broken_seq, self.why)

    def _compare(self, count: int, last_hash: str) -> None:
        if self.entries < count:
            self.broken_seq = self.entries + 1
            self.why = (
                f"The ledger had {count:,} entries and has {self.entries:,}: the end was cut off."
            )
        elif (self.entries, self._head_hash) != (count, last_hash):
            self.broken_seq = self.entries
            self.why = "The last entry is not the one that the head of the ledger names."
        elif not self._is_anchored:
            self.why = "The anchor is nowhere in the chain: it was written anew since then."


def fault_of(link: Link, expected: int, previous: str) -> str:
    """What is wrong with this entry, in words; nothing when it is sound."""
    if link.seq > expected:
        gone = f"Entry {expected} is" if link.seq == expected + 1 else (
            f"Entries {expected} to {link.seq - 1} are"
        )  # fmt: skip
        return f"{gone} missing: after entry {expected - 1} comes entry {link.seq}."
    if link.seq < expected:
        return f"Entry {link.seq} stands where entry {expected} should."
    if digest(link.payload) != link.content_digest:
        return f"The content of entry {link.seq} was changed: its digest is another."
    if hash_of(link) != link.entry_hash:
        return f"Entry {link.seq} was changed: its hash is another."
    if link.previous_hash != previous:
        return (
            f"Entry {link.seq} is not chained to the entry before it: entries were put in another "
            "order, replaced or inserted."
        )
    return ""
