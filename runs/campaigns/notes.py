"""What happened to a campaign beside its cycles."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from people.models import User
from runs.campaigns.models import Campaign, CampaignNote, NoteKind


def tell_note(
    campaign: Campaign,
    kind: NoteKind,
    text: str = "",
    *,
    by: User | None = None,
    at: datetime | None = None,
    until: datetime | None = None,
) -> None:
    CampaignNote.objects.create(
        campaign=campaign,
        kind=kind,
        at=at or timezone.now(),
        until=until,
        text=text,
        by_name=by.get_username() if by else "",
    )
