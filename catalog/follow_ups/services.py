"""Raising, planning, commenting, closing and reopening follow-ups.

Each step writes its line of history in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from catalog.choices import Origin
from catalog.follow_ups.models import EntryKind, FollowUp, FollowUpEntry
from catalog.models import Deployment
from people.access import Action, require
from people.models import User

LONGEST = 4000


class FollowUpRefused(ValueError):
    """A follow-up cannot be changed so; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A run that closes a follow-up, as far as the catalog may know it."""

    run: int
    path: str
    said: str


@transaction.atomic
def raise_follow_up(
    *,
    actor: User,
    text: str,
    deployments: Iterable[Deployment] = (),
    failure_class: str = "",
    path: str = "",
    assignee: User | None = None,
    due_on: date | None = None,
) -> FollowUp:
    """Something to be done; no deployments: about every one. `path`: the page that led to it.

    Raises PermissionDenied, ValidationError.
    """
    require(actor, Action.EDIT_FOLLOW_UP)
    follow_up = FollowUp.objects.create(
        text=_words(text, "text"),
        failure_class=failure_class[:40],
        assignee=_active(assignee),
        due_on=due_on,
    )
    follow_up.deployments.set(deployments)
    _note(follow_up, EntryKind.RAISED, _plan(follow_up, ""), path=path, by=actor)
    return follow_up


@transaction.atomic
def note_failure(*, deployment: Deployment, text: str, seen: str, path: str) -> FollowUp:
    """What failed by itself, told apart by `text`: an open follow-up is told of what was seen,
    a closed one is opened again, and else one is raised.
    """
    # Two failures at once must find one another's follow-up.
    Deployment.objects.select_for_update().get(pk=deployment.pk)
    same = FollowUp.objects.filter(deployments=deployment, text=text)
    known = same.order_by("-is_open", "-pk").first()
    if known is None:
        known = FollowUp.objects.create(text=text, origin=Origin.CLIENT)
        known.deployments.add(deployment)
        _note(known, EntryKind.RAISED, seen, path=path)
    elif known.is_open:
        _note(known, EntryKind.SEEN_AGAIN, seen, path=path)
    else:
        _open_again(known, seen, path=path)
    return known


def reopen_what_failed_again(
    *, deployment: Deployment, failure_class: str, text: str, path: str
) -> int:
    """Open what was closed about this class of failure there. Gives how many."""
    closed = FollowUp.objects.select_for_update().filter(
        deployments=deployment, failure_class=failure_class, is_open=False
    )
    with transaction.atomic():
        found = list(closed)
        for follow_up in found:
            _open_again(follow_up, text, path=path)
    return len(found)


@transaction.atomic
def comment(*, actor: User, follow_up: FollowUp, text: str) -> FollowUpEntry:
    """Raises PermissionDenied, ValidationError."""
    require(actor, Action.EDIT_FOLLOW_UP)
    return _note(follow_up, EntryKind.COMMENT, _words(text, "text"), by=actor)


@transaction.atomic
def plan(*, actor: User, follow_up: FollowUp, assignee: User | None, due_on: date | None) -> bool:
    """Who does it, and until when. False where both were so already.

    Raises PermissionDenied, ValidationError, FollowUpRefused.
    """
    require(actor, Action.EDIT_FOLLOW_UP)
    held = _open(follow_up)
    if (held.assignee, held.due_on) == (assignee, due_on):
        return False
    held.assignee, held.due_on = _active(assignee), due_on
    held.save(update_fields=["assignee", "due_on"])
    _note(held, EntryKind.PLANNED, _plan(held, "For nobody, without a date."), by=actor)
    return True


@transaction.atomic
def close(
    *, actor: User, follow_up: FollowUp, proof: Proof | None = None, reason: str = ""
) -> FollowUp:
    """Close by the run that proves it, or with a reason.

    Raises PermissionDenied, FollowUpRefused without either or when it is closed already.
    """
    require(actor, Action.EDIT_FOLLOW_UP)
    held = _open(follow_up)
    reason = reason.strip()[:LONGEST]
    if proof is None and not reason:
        raise FollowUpRefused(
            "Name the run that proves it, or say why it is closed without a proof."
        )
    held.is_open, held.closed_at = False, timezone.now()
    held.closed_by_run = proof.run if proof else None
    held.save(update_fields=["is_open", "closed_at", "closed_by_run"])
    said = " ".join(filter(None, (proof.said if proof else "Without a run.", reason)))
    _note(held, EntryKind.CLOSED, said, path=proof.path if proof else "", by=actor)
    return held


@transaction.atomic
def reopen(*, actor: User, follow_up: FollowUp, reason: str) -> FollowUp:
    """Raises PermissionDenied, ValidationError, FollowUpRefused when it is open."""
    require(actor, Action.EDIT_FOLLOW_UP)
    held = FollowUp.objects.select_for_update().get(pk=follow_up.pk)
    if held.is_open:
        raise FollowUpRefused("It is open already.")
    return _open_again(held, _words(reason, "reason"), by=actor)


# --- parts, without permission of their own ----------------------------------------------------


def _open(follow_up: FollowUp) -> FollowUp:
    """The row, held; raises FollowUpRefused when somebody closed it meanwhile."""
    held = FollowUp.objects.select_for_update().get(pk=follow_up.pk)
    if not held.is_open:
        raise FollowUpRefused("It is closed. Reopen it first.")
    return held


def _open_again(
    follow_up: FollowUp, text: str, *, path: str = "", by: User | None = None
) -> FollowUp:
    follow_up.is_open, follow_up.opened_at = True, timezone.now()
    follow_up.closed_at = follow_up.closed_by_run = None
    follow_up.save(update_fields=["is_open", "opened_at", "closed_at", "closed_by_run"])
    _note(follow_up, EntryKind.REOPENED, text, path=path, by=by)
    return follow_up


def _note(
    follow_up: FollowUp, kind: EntryKind, text: str, *, path: str = "", by: User | None = None
) -> FollowUpEntry:
    return FollowUpEntry.objects.create(
        follow_up=follow_up,
        kind=kind,
        text=text[:LONGEST],
        path=path[:300],
        by=by,
        by_name=by.get_username() if by else "",
    )


def _plan(follow_up: FollowUp, otherwise: str) -> str:
    """Who and until when, in words."""
    who = f"For {follow_up.assignee.get_username()}" if follow_up.assignee else ""
    until = f"due {follow_up.due_on:%Y-%m-%d}" if follow_up.due_on else ""
    said = ", ".join(filter(None, (who, until)))
    return f"{said[:1].upper()}{said[1:]}." if said else otherwise


def _words(text: str, field: str) -> str:
    text = text.strip()
    if not text or len(text) > LONGEST or "\x00" in text:
        raise ValidationError({field: f"Write 1 to {LONGEST:,} characters."})
    return text


def _active(person: User | None) -> User | None:
    if person is not None and not person.is_active:
        raise ValidationError({"assignee": f"{person.get_username()} can no longer sign in."})
    return person
