"""The chain itself: what is hashed, and how a reader finds the first broken link. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

START = "0" * 64  # what the first entry is chained to
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Link:
    """One entry as it is chained. `at` is UTC, to the microsecond; None is no time any more."""

    seq: int
    kind: str
    at: datetime | None
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
    return ENCODER.encode(value).encode()


def digest(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def stamp(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat(timespec="microseconds")


def hash_of(link: Link) -> str:
    """SHA-256 over everything but the hash itself."""
    return digest(
        [
            link.seq,
            link.kind,
            stamp(link.at),
            link.actor_name,
            link.subject_kind,
            link.subject_id,
            link.title,
            link.path,
            link.content_digest,
            link.previous_hash,
        ]
    )


class Head(NamedTuple):
    """What is kept beside the chain: how many entries there are, and the hash of the last."""

    entries: int
    last_hash: str


class Reader:
    """Reads the chain in order, in as many parts as come, up to the first broken entry.

    `anchor` is a hash that somebody kept outside, which must be met on the way.
    """

    def __init__(self, anchor: str = "") -> None:
        self.entries = 0
        self.broken_seq: int | None = None
        self.why = ""
        self._head_hash = START
        self._hash_before = ""
        self._anchor = anchor.strip().lower()
        self._is_anchored = self._anchor in ("", START)

    def read(self, links: Iterable[Link]) -> None:
        try:
            self._read(iter(links))
        except (TypeError, ValueError):
            self.broken_seq = self.entries + 1
            self.why = f"Entry {self.entries + 1} cannot be read: it holds what no entry can hold."

    def _read(self, rest: Iterator[Link]) -> None:
        for link in rest:
            if not is_sound(link, self.entries + 1, self._head_hash):
                place = Place(self.entries + 1, self._head_hash, self._hash_before)
                self.broken_seq, self.why = explain(link, place, rest)
                return
            self.entries += 1
            self._hash_before, self._head_hash = self._head_hash, link.entry_hash
            self._is_anchored = self._is_anchored or link.entry_hash == self._anchor

    def end(self, head: Head | None = None) -> Verified:
        """All was read: compare with what the head says, where there is one."""
        if head and not self.why:
            self._compare(head)
        if not self.why and not self._is_anchored:
            self.why = "The anchor is nowhere in the chain: it was written anew since then."
        return Verified(self.entries, self._head_hash, self.broken_seq, self.why)

    def _compare(self, head: Head) -> None:
        count, last_hash = head
        if self.entries < count:
            self.broken_seq = self.entries + 1
            self.why = (
                f"The ledger had {count:,} entries and has {self.entries:,}: the end was cut off."
            )
        elif self.entries > count:
            self.broken_seq = count + 1
            self.why = f"Entry {count + 1} was inserted: the head of the ledger does not count it."
        elif self._head_hash != last_hash:
            self.broken_seq = self.entries
            self.why = "The last entry is not the one that the head of the ledger names."


def is_sound(link: Link, expected: int, previous: str) -> bool:
    return (
        link.seq == expected
        and link.previous_hash == previous
        and digest(link.payload) == link.content_digest
        and hash_of(link) == link.entry_hash
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry was read: its due number, and the hashes of the one and the two before."""

    seq: int
    previous: str
    before: str


def explain(link: Link, place: Place, rest: Iterator[Link]) -> tuple[int, str]:
    """The number of the broken entry, and what happened, as the entries after it show."""
    if link.seq != place.seq:
        return place.seq, _misnumbered(link.seq, place.seq)
    if link.previous_hash != place.previous:
        return _unchained(link, place, rest)
    following = next(rest, None)
    if following is not None and following.previous_hash == link.previous_hash:
        return link.seq, _inserted(link.seq)
    what = "Entry" if digest(link.payload) == link.content_digest else "The content of entry"
    return link.seq, f"{what} {link.seq} was changed: its hash is another."


def _misnumbered(seq: int, expected: int) -> str:
    if seq < expected:
        return f"Entry {seq} stands where entry {expected} should."
    gone = f"Entry {expected} is"
    if seq > expected + 1:
        gone = f"Entries {expected} to {seq - 1} are"
    before = f"after entry {expected - 1} comes" if expected > 1 else "it begins with"
    return f"{gone} missing: {before} entry {seq}."


def _unchained(link: Link, place: Place, rest: Iterator[Link]) -> tuple[int, str]:
    """Its number is right, and it follows another entry than it says."""
    seq = link.seq
    if link.previous_hash == place.before:
        return seq - 1, _inserted(seq - 1)
    if any(later.entry_hash == link.previous_hash for later in rest):
        return seq, (
            f"Entry {seq} was put in another order: it is chained to an entry that comes later."
        )
    if seq > 1 and hash_of(link) == link.entry_hash:
        return seq - 1, (
            f"Entry {seq - 1} was replaced: entry {seq} is not chained to what stands there."
        )
    return seq, (
        f"Entry {seq} is not the one that was written as number {seq}: it was changed, or an "
        "entry before it is missing and the numbers were closed up."
    )


def _inserted(seq: int) -> str:
    return f"Entry {seq} was inserted: the one after it is chained to the one before it."
