"""Appending to the ledger, and verifying it. Nothing else writes here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from people.access import Action, require
from people.models import User
from verdicts.ledger import chain
from verdicts.ledger.chain import START, Link, Reader, Verified, digest, hash_of
from verdicts.ledger.models import Entry, EntryKind, Head, Verification
from verdicts.models import Verdict

HEAD = 1
ROWS_AT_ONCE = 2000
LINK_FIELDS = (
    "seq",
    "kind",
    "at",
    "actor_name",
    "subject_kind",
    "subject_id",
    "title",
    "path",
    "payload",
    "content_digest",
    "previous_hash",
    "entry_hash",
)


@transaction.atomic
def append(
    *,
    kind: str,
    actor: User | None,
    subject_kind: str,
    subject_id: int,
    title: str,
    payload: dict[str, Any],
    path: str = "",
    at: datetime | None = None,
    actor_name: str = "",
) -> Entry:
    """Add an entry in the caller's transaction: it stands if, and only if, what it tells does.

    The head's row is locked until that ends, so that two writers never fork the chain.
    """
    head, _ = Head.objects.select_for_update().get_or_create(
        pk=HEAD, defaults={"last_hash": START}
    )
    content = plain(payload)
    link = Link(
        seq=head.count + 1,
        kind=EntryKind(kind),
        at=at or timezone.now(),
        actor_name=actor.get_username() if actor else actor_name or "Cleanpass",
        subject_kind=subject_kind,
        subject_id=subject_id,
        title=title[:300],
        path=path,
        payload=content,
        content_digest=digest(content),
        previous_hash=head.last_hash,
    )
    link = replace(link, entry_hash=hash_of(link))
    entry = Entry(**{name: getattr(link, name) for name in LINK_FIELDS})
    entry.save()
    head.count, head.last_hash = link.seq, link.entry_hash
    head.save()
    return entry


def plain(payload: dict[str, Any]) -> Any:
    """As every database gives it back: dates as text, whole numbers without a fraction.

    Raises ValueError for a number that JSON does not have.
    """
    text = json.dumps(payload, cls=DjangoJSONEncoder, allow_nan=False)
    return json.loads(text, parse_float=_shortest)


def _shortest(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def record_verdict(verdict: Verdict) -> Entry:
    """The entry of a verdict that was just given."""
    return append(
        kind=EntryKind.VERDICT,
        actor=verdict.author,
        actor_name=verdict.author_name,
        subject_kind="verdict",
        subject_id=verdict.pk,
        title=f"{verdict.get_state_display()}: {verdict.deployment}",
        path=f"/deployments/{verdict.deployment.slug}/",
        at=timezone.now(),
        payload={
            "deployment": verdict.deployment.slug,
            "revision": verdict.revision.number if verdict.revision else None,
            "fingerprint": verdict.revision.fingerprint if verdict.revision else None,
            "state": verdict.state,
            "role": verdict.role,
            "label": verdict.label,
            "reason": verdict.reason,
            "unblocks_when": verdict.unblocks_when,
            "origin": verdict.origin,
            "decided_at": verdict.decided_at,
        },
    )


def read_chain(*, after_seq: int = 0) -> Iterator[Link]:
    """Entries in order, some thousand rows at a time.

    One at a time from a row on that cannot be read: the ValueError then comes in its place.
    """
    try:
        for link in _links(after_seq, ROWS_AT_ONCE):
            yield link
            after_seq = link.seq
    except ValueError:
        yield from _links(after_seq, 1)


def _links(after_seq: int, at_once: int) -> Iterator[Link]:
    rows = Entry.objects.filter(seq__gt=after_seq).order_by("seq").values(*LINK_FIELDS)
    return (Link(**row) for row in rows.iterator(chunk_size=at_once))


def read_head() -> chain.Head:
    row = Head.objects.filter(pk=HEAD).values_list("count", "last_hash").first()
    return chain.Head(*(row or (0, START)))


def verify_ledger(*, anchor: str = "", at: datetime | None = None) -> Verified:
    """Read the whole chain, and keep what was found for the pages. It locks nothing: what is
    appended meanwhile is read too."""
    reader = Reader(anchor)
    while True:
        before = reader.entries
        reader.read(read_chain(after_seq=before))
        head = read_head()
        if reader.why or reader.entries in (before, head.entries):
            break
    found = reader.end(head)
    Verification.objects.create(
        at=at or timezone.now(),
        entries=found.entries,
        head_hash=found.head_hash,
        broken_seq=found.broken_seq,
        why=found.why,
    )
    return found


def verify_now(*, actor: User) -> Verified:
    """For somebody who asks on the page."""
    require(actor, Action.VERIFY_LEDGER)
    return verify_ledger()
