"""Approvals by another person, on what they saw, and the primary they make."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection
from pytest_django import Settings

from people.models import User
from verdicts.models import VerdictState
from verdicts.promotions.models import PrimarySlot, PromotionRequest, RequestState
from verdicts.promotions.refusals import PromotionRefused, Stale
from verdicts.promotions.services import decide
from verdicts.promotions.slots import slot_for
from verdicts.promotions.tests.lab import (
    ROLE,
    approve,
    ask,
    need_approvals,
    promoted,
    prove,
    proven,
    state_of,
)


def test_the_one_who_asked_does_not_approve(ada: User, abel: User) -> None:
    request = ask(ada, proven("good"))
    for kind in ("approve", "reject", "ask_more"):
        with pytest.raises(PermissionDenied, match="somebody else decides"):
            decide(actor=ada, request=request, kind=kind, comment="mine")
    assert state_of(request.deployment) == "unreviewed"
    approve(abel, request)
    assert state_of(request.deployment) == VerdictState.PRIMARY


def test_an_operator_may_not_approve(olive: User, abel: User) -> None:
    request = ask(abel, proven("good"))
    with pytest.raises(PermissionDenied, match="approver"):
        approve(olive, request)


def test_in_single_person_mode_it_is_printed_on_the_decision(
    ada: User, settings: Settings
) -> None:
    settings.SINGLE_PERSON_MODE = True
    request = ask(ada, proven("good"))
    assert approve(ada, request).is_single_person
    assert state_of(request.deployment) == VerdictState.PRIMARY


def test_an_approval_makes_it_primary_and_the_former_one_a_candidate_with_a_link(
    olive: User, abel: User
) -> None:
    first = promoted(olive, abel, "first")
    second = promoted(olive, abel, "second")
    assert state_of(second.deployment) == VerdictState.PRIMARY
    assert second.given is not None and second.given.former == first.given
    assert second.given.revision == second.revision
    retired = first.deployment.verdicts.first()
    assert retired is not None and retired.state == VerdictState.CANDIDATE
    assert retired.successor == second.given
    assert second.replaced == first
    assert PrimarySlot.objects.get(role=ROLE).verdict == second.given


def test_an_approval_is_for_exactly_what_was_reviewed(olive: User, abel: User) -> None:
    request = ask(olive, proven("good"))
    seen = request.evaluation.digest
    prove(request.deployment)
    with pytest.raises(Stale, match="changed since you read it"):
        approve(abel, request, digest=seen)
    assert not request.decisions.exists()
    approve(abel, request)
    assert state_of(request.deployment) == VerdictState.PRIMARY


def test_an_earlier_approval_is_stale_once_the_evidence_changed(
    olive: User, abel: User, ada: User
) -> None:
    need_approvals(2)
    request = ask(olive, proven("good"))
    approve(abel, request)
    with pytest.raises(PromotionRefused, match="already"):
        approve(abel, request)
    prove(request.deployment)
    approve(ada, request)
    assert state_of(request.deployment) == "unreviewed"
    approve(abel, request)
    assert state_of(request.deployment) == VerdictState.PRIMARY


def test_nothing_is_approved_once_a_gate_is_no_longer_met(olive: User, abel: User) -> None:
    request = ask(olive, proven("good"))
    request.deployment.runs.update(outcome="fail")
    with pytest.raises(PromotionRefused, match="gates are not met"):
        approve(abel, request)


def test_an_approval_that_did_not_see_who_is_primary_is_refused(olive: User, abel: User) -> None:
    request, version = ask(olive, proven("good")), slot_for(ROLE).version
    promoted(olive, abel, "other")
    PromotionRequest.objects.filter(pk=request.pk).update(state=RequestState.OPEN)
    with pytest.raises(Stale, match=r"primary for .* changed"):
        approve(abel, request, slot_version=version)


def test_to_reject_and_to_ask_for_more_need_words(olive: User, abel: User) -> None:
    request = ask(olive, proven("good"))
    for kind, comment in (("reject", " "), ("ask_more", ""), ("promote", "now")):
        with pytest.raises(ValidationError):
            decide(actor=abel, request=request, kind=kind, comment=comment)
    decide(actor=abel, request=request, kind="reject", comment="too slow")
    request.refresh_from_db()
    assert (request.state, request.explanation) == (RequestState.REJECTED, "too slow")


def test_a_deployment_serves_one_role(olive: User, abel: User) -> None:
    request = promoted(olive, abel, "good")
    with pytest.raises(PromotionRefused, match="serves one role"):
        ask(olive, request.deployment, type(ROLE).SPECIALIST)


@pytest.mark.django_db(transaction=True)
def test_of_two_approvals_at_the_same_moment_one_wins(olive: User, abel: User, ada: User) -> None:
    requests = [ask(olive, proven(slug)) for slug in ("left", "right")]
    ready = threading.Barrier(2)
    refused: list[str] = []

    def work(person: User, request: PromotionRequest) -> None:
        try:
            ready.wait(10)
            approve(person, request)
        except PromotionRefused as error:
            refused.append(str(error))
        finally:
            connection.close()

    pairs: Any = zip((abel, ada), requests, strict=True)
    threads = [threading.Thread(target=work, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(refused) == 1
    states = sorted(row.state for row in PromotionRequest.objects.all())
    assert states == [RequestState.APPROVED, RequestState.SUPERSEDED]
    assert sorted(state_of(request.deployment) for request in requests) == [
        "primary",
        "unreviewed",
    ]
    assert slot_for(ROLE).version == 1
