"""A token acts for its person within scopes, until it ends, and is nowhere stored."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import time_machine
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from people.access import Action, may, require
from people.models import ApiToken, User
from people.tokens import make_token, person_of_token, revoke_token


def test_a_token_is_limited_by_its_scopes_and_by_the_role_of_its_person(
    olive: User, vera: User
) -> None:
    reading = person_of_token(make_token(actor=olive, name="r", scopes=["read"], days=1)[1])
    running = person_of_token(make_token(actor=olive, name="w", scopes=["run"], days=1)[1])
    vain = person_of_token(make_token(actor=vera, name="v", scopes=["run", "admin"], days=1)[1])
    assert reading and running and vain
    assert may(reading, Action.VIEW) and not may(reading, Action.START_RUN)
    assert may(running, Action.START_RUN) and not may(running, Action.EDIT_SUITE)
    assert may(vain, Action.VIEW) and not may(vain, Action.START_RUN)
    with pytest.raises(PermissionDenied, match="lacks the scope run"):
        require(reading, Action.START_RUN)
    with pytest.raises(PermissionDenied, match="never by a token"):
        make_token(actor=running, name="more", scopes=["admin"], days=1)


def test_only_a_hash_is_stored_and_the_page_shows_the_text_once(
    client: Client, olive: User
) -> None:
    client.force_login(olive)
    form = {"name": "nightly", "days": "30", "scopes": ["read", "run"]}
    text = client.post("/tokens/", form).context["text"]
    assert text.startswith("cpt_")
    stored = ApiToken.objects.get()
    assert text not in str(vars(stored))
    page = client.get("/tokens/").content.decode()
    assert "nightly" in page and text not in page


def test_expired_revoked_and_unknown_tokens_open_nothing(olive: User, vera: User) -> None:
    token, text = make_token(actor=olive, name="x", scopes=["run"], days=2)
    assert person_of_token(text) == olive
    token.refresh_from_db()
    assert token.last_used_at is not None
    with time_machine.travel(datetime(2099, 1, 1, tzinfo=UTC)):
        assert person_of_token(text) is None
    with pytest.raises(ValidationError, match="no such token of yours"):
        revoke_token(actor=vera, token_id=token.pk)
    revoke_token(actor=olive, token_id=token.pk)
    assert person_of_token(text) is None
    assert person_of_token("cpt_made-up") is None


@pytest.mark.parametrize("days", [0, 400])
def test_a_token_that_lasts_for_ever_is_refused(olive: User, days: int) -> None:
    with pytest.raises(ValidationError, match="lasts 1 to 366 days"):
        make_token(actor=olive, name="x", scopes=["read"], days=days)
