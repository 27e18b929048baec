"""What the bell of every page shows."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from people.models import User
from verdicts.notifications.models import InboxItem


def inbox(request: HttpRequest) -> dict[str, object]:
    """`unread_count`, counted only where a page shows it."""
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {}
    unread = InboxItem.objects.filter(user=user, read_at=None)
    return {"unread_count": SimpleLazyObject(unread.count)}
