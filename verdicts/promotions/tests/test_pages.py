"""The pages of promotions, as each person sees them."""

from __future__ import annotations

import pytest
from django.test import Client

from people.models import User
from verdicts.models import VerdictState
from verdicts.promotions.models import PromotionRequest
from verdicts.promotions.tests.lab import (
    add_deployment,
    approve,
    ask,
    promoted,
    prove,
    proven,
    state_of,
)


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def page(person: User, address: str) -> str:
    answer = signed_in(person).get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_the_list_says_what_waits_for_me_and_what_it_would_retire(olive: User, abel: User) -> None:
    promoted(olive, abel, "first")
    ask(olive, proven("second"))
    text = page(abel, "/promotions/")
    assert "1 waits for your decision." in text
    assert "Would retire" in text and ">first</a>" in text
    assert "1 open, none for you to decide." in page(olive, "/promotions/")


def test_the_review_shows_gates_both_models_memory_and_a_form_only_to_others(
    olive: User, abel: User
) -> None:
    promoted(olive, abel, "first")
    request = ask(olive, proven("second"))
    text = page(abel, f"/promotions/{request.pk}/")
    for part in ("Identity verified", "Side by side", "primary now", "Memory on Mini", "Approve"):
        assert part in text
    own = page(olive, f"/promotions/{request.pk}/")
    assert "somebody else decides it" in own
    assert 'value="approve"' not in own


def test_a_stale_approval_comes_back_with_its_comment_and_what_there_is_now(
    olive: User, abel: User
) -> None:
    request = ask(olive, proven("good"))
    prove(request.deployment)
    answer = signed_in(abel).post(
        f"/promotions/{request.pk}/decide/",
        {
            "kind": "approve",
            "comment": "looks fine",
            "digest": request.evaluation.digest,
            "slot_version": 0,
        },
    )
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "changed since you read it" in text and "looks fine" in text
    assert request.evaluation.digest not in text.split('name="digest"')[1][:200]


def test_a_request_is_made_and_decided_through_the_forms(olive: User, abel: User) -> None:
    good = proven("good")
    form = {"reason": "it is better", "planned_route": "good"}
    answer = signed_in(olive).post("/deployments/good/promote/?role=agent_route", form)
    request = PromotionRequest.objects.get()
    assert answer.headers["Location"] == f"/promotions/{request.pk}/"
    decision = {"kind": "approve", "digest": request.evaluation.digest, "slot_version": 0}
    signed_in(abel).post(f"/promotions/{request.pk}/decide/", decision)
    assert state_of(good) == VerdictState.PRIMARY
    assert "In force" in page(abel, f"/promotions/{request.pk}/")
    signed_in(abel).post(f"/promotions/{request.pk}/rollback/", {"comment": ""})
    assert state_of(good) == VerdictState.CANDIDATE


def test_the_form_names_what_is_missing_before_anybody_types(olive: User) -> None:
    add_deployment("bare")
    text = page(olive, "/deployments/bare/promote/")
    assert "gates for" in text and "are not met yet" in text
    assert "disabled" in text


def test_a_block_is_given_through_its_form(abel: User) -> None:
    toy = add_deployment("toy")
    client = signed_in(abel)
    client.post("/deployments/toy/verdict/block/", {"reason": "404"})
    assert state_of(toy) == "unreviewed"
    client.post(
        "/deployments/toy/verdict/block/", {"reason": "404", "unblocks_when": "artifact found"}
    )
    assert state_of(toy) == VerdictState.BLOCKED
    text = page(abel, "/deployments/toy/")
    assert "artifact found" in text


@pytest.mark.parametrize("change", ["block", "reject", "reopen", "retire"])
def test_each_change_says_what_it_will_do(abel: User, change: str) -> None:
    add_deployment("toy")
    assert "Unreviewed now." in page(abel, f"/deployments/toy/verdict/{change}/")


def test_there_is_no_other_change(abel: User) -> None:
    add_deployment("toy")
    assert signed_in(abel).get("/deployments/toy/verdict/promote/").status_code == 404


def test_a_decided_request_keeps_what_it_was_decided_on(olive: User, abel: User) -> None:
    request = ask(olive, proven("good"))
    approve(abel, request, comment="131K holds")
    text = page(olive, f"/promotions/{request.pk}/")
    assert "Gates as they were decided on" in text
    assert "131K holds" in text
    assert "/rollback/" not in text
