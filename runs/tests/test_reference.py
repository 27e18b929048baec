"""Reference pages are read off the code that measures, so they can leave nothing out."""

from __future__ import annotations

import pytest
from django.test import Client

from people.models import User
from runs.engine.failure_classes import FAILURE_CLASSES
from runs.engine.runtimes import ADAPTERS
from runs.reference import GROUPS, runtime_cards

pytestmark = pytest.mark.django_db


def test_every_failure_class_has_its_row_and_its_group(client: Client, vera: User) -> None:
    client.force_login(vera)
    page = client.get("/runs/failure-classes/").content.decode()
    assert {row.group for row in FAILURE_CLASSES.values()} == set(GROUPS)
    missing = [key for key in FAILURE_CLASSES if page.count(f'id="{key}"') != 1]
    assert missing == []


def test_every_runtime_says_what_it_was_proven_against(client: Client, vera: User) -> None:
    client.force_login(vera)
    page = client.get("/runs/runtimes/").content.decode()
    cards = {card.key: card for card in runtime_cards()}
    assert list(cards) == list(ADAPTERS)
    for card in cards.values():
        assert f'id="{card.key}"' in page
        assert card.proven_against
        assert card.traps
    assert cards["llama.cpp"].is_proven_live
    assert not cards["lm-studio"].is_proven_live


def test_a_runtime_tells_what_its_adapter_really_reads() -> None:
    told = {card.key: {a.title: a.how for a in card.abilities} for card in runtime_cards()}
    assert told["llama.cpp"]["Exact prompt size"] == "by its own tokenizer"
    assert told["openai"]["Exact prompt size"] == ""
    assert told["openai"]["What is loaded"] == ""
