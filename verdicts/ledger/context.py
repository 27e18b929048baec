"""What every page says when the ledger was found broken."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from people.models import User
from verdicts.ledger.models import Verification


def verification(request: HttpRequest) -> dict[str, object]:
    """`ledger_verification`: the last one, read only where a page shows it."""
    if not isinstance(getattr(request, "user", None), User):
        return {}
    return {"ledger_verification": SimpleLazyObject(Verification.objects.first)}
