"""Evidence that somebody relies on is told before it is too old, once."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from people.models import User
from verdicts.notifications.models import InboxItem, Kind
from verdicts.promotions.services.warning import AHEAD, warn_of_staleness
from verdicts.promotions.tests.lab import promoted, proven

MONTH = timedelta(days=30)


def test_a_primary_whose_evidence_gets_old_is_told_once_to_those_who_decide(
    olive: User, abel: User
) -> None:
    promoted(olive, abel, "good")
    proven("nobody-relies-on-it")
    now = timezone.now()
    assert warn_of_staleness(now) == 0
    soon = now + MONTH - AHEAD / 2
    told = warn_of_staleness(soon)
    assert told > 3
    items = InboxItem.objects.filter(user=abel, notice__kind=Kind.EVIDENCE_STALE)
    assert items.count() == told
    assert all(item.notice.title.endswith("of good") for item in items)
    assert warn_of_staleness(soon + timedelta(hours=1)) == 0


def test_what_is_stale_already_is_not_told_as_if_it_were_still_to_come(
    olive: User, abel: User
) -> None:
    promoted(olive, abel, "good")
    later = timezone.now() + MONTH + timedelta(days=1)
    assert warn_of_staleness(later) == 0
