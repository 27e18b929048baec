"""Tokens for programs: made, found again by their hash, revoked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from people.models import ApiToken, User
from people.scopes import Scope

PREFIX = "cpt_"
LONGEST_DAYS = 366
USED_STEP = timedelta(minutes=1)  # a busy program does not write its row at each request


def make_token(
    *, actor: User, name: str, scopes: Iterable[str], days: int
) -> tuple[ApiToken, str]:
    """A token of the actor's own and its text, which is shown once and never stored.

    Raises ValidationError; PermissionDenied when a token asks for another token.
    """
    if actor.token_scopes is not None:
        raise PermissionDenied("Tokens are made in the browser, never by a token.")
    wanted = sorted({*scopes, Scope.READ.value})
    if unknown := set(wanted) - set(Scope):
        raise ValidationError({"scopes": f"No such scope: {', '.join(sorted(unknown))}."})
    if not 1 <= days <= LONGEST_DAYS:
        raise ValidationError({"days": f"A token lasts 1 to {LONGEST_DAYS} days."})
    text = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken(
        user=actor,
        name=name.strip(),
        start=text[:10],
        digest_sha256=digest(text),
        scopes=wanted,
        expires_at=timezone.now() + timedelta(days=days),
    )
    token.full_clean()
    token.save()
    return token, text


def revoke_token(*, actor: User, token_id: int) -> None:
    """End one of the actor's tokens. Raises ValidationError when there is no such living one."""
    mine = ApiToken.objects.filter(pk=token_id, user=actor, revoked_at=None)
    if not mine.update(revoked_at=timezone.now()):
        raise ValidationError("There is no such token of yours, or it is revoked already.")


def person_of_token(text: str) -> User | None:
    """Whom the token speaks for, limited to its scopes; None when it opens nothing."""
    token = ApiToken.objects.select_related("user").filter(digest_sha256=digest(text)).first()
    if token is None or token.state != "active" or not token.user.is_active:
        return None
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > USED_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    token.user.token_scopes = frozenset(Scope(scope) for scope in token.scopes)
    return token.user


def digest(text: str) -> str:
    """Random 256 bits need no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()
