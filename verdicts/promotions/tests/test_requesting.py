"""Who may ask for what, on which evidence, and how a request ends without a promotion."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from catalog.models import Alias, Revision
from people.models import User
from verdicts.models import Verdict
from verdicts.notifications.models import InboxItem
from verdicts.policies.tests.making import VERIFIED, report_of
from verdicts.promotions.models import PromotionRequest, RequestState
from verdicts.promotions.refusals import PromotionRefused
from verdicts.promotions.services import answer, decide, expire_due, request_promotion, withdraw
from verdicts.promotions.tests.lab import (
    ROLE,
    add_deployment,
    ask,
    proven,
    state_of,
)
from verdicts.tests.lab import add_run


def test_a_request_keeps_what_it_was_asked_on_and_tells_those_who_decide(
    olive: User, abel: User
) -> None:
    request = ask(olive, proven("good"))
    assert request.state == RequestState.OPEN
    assert request.requester_name == "olive"
    counting = [gate for gate in request.evaluation.body["gates"] if gate["counts"]]
    assert {gate["state"] for gate in counting} == {"pass"}
    assert request.evaluation.body["fingerprint"] == request.revision.fingerprint
    told = InboxItem.objects.get(user=abel)
    assert told.notice.kind == "promotion_requested"
    assert not InboxItem.objects.filter(user=olive).exists()


def test_a_request_names_the_gates_that_are_not_met(olive: User) -> None:
    with pytest.raises(PromotionRefused, match=r"gates are not met: .*\(missing\)"):
        ask(olive, add_deployment("bare"))
    assert not PromotionRequest.objects.exists()


def test_a_viewer_may_not_ask(vera: User) -> None:
    with pytest.raises(PermissionDenied):
        ask(vera, proven("good"))


def test_a_reason_and_a_known_role_are_needed(olive: User) -> None:
    good = proven("good")
    for role, reason in ((ROLE, "  "), ("king", "better")):
        with pytest.raises(ValidationError):
            request_promotion(actor=olive, deployment=good, role=role, reason=reason)


def test_an_alias_cannot_be_promoted(olive: User) -> None:
    good = proven("good")
    Alias.objects.create(name="gpt-4", kind=Alias.Kind.COMPATIBILITY, artifact=good.artifact)
    with pytest.raises(PromotionRefused, match="an alias cannot be promoted"):
        request_promotion(
            actor=olive, deployment=good, role=ROLE, reason="x", planned_route="gpt-4"
        )
    with pytest.raises(PromotionRefused, match="clients cannot be sent to other"):
        request_promotion(
            actor=olive, deployment=good, role=ROLE, reason="x", planned_route="other"
        )


def test_an_identity_that_is_only_a_listed_name_cannot_be_promoted(olive: User) -> None:
    good = proven("good")
    weak = {**VERIFIED, "status": "alias_only", "sentence": "The name is listed."}
    add_run(good, report=report_of(identity_after=weak))
    with pytest.raises(PromotionRefused, match="identity is not verified: The name is listed"):
        ask(olive, good)


def test_a_new_revision_starts_at_zero(olive: User) -> None:
    good = proven("good")
    old = good.revisions.get()
    Revision.objects.filter(pk=old.pk).update(is_active=False)
    Revision.objects.create(deployment=good, number=2, runtime_build=old.runtime_build, parallel=4)
    with pytest.raises(PromotionRefused, match="never probed"):
        ask(olive, good)


@pytest.mark.parametrize("state", ["blocked", "rejected"])
def test_what_is_blocked_or_rejected_must_be_reopened_first(olive: User, state: str) -> None:
    good = proven("good")
    Verdict.objects.create(
        deployment=good, state=state, author_name="x", decided_at=timezone.now()
    )
    with pytest.raises(PromotionRefused, match="reopen it first"):
        ask(olive, good)


def test_one_deployment_asks_once_for_a_role(olive: User) -> None:
    good = proven("good")
    ask(olive, good)
    with pytest.raises(PromotionRefused, match="open request"):
        ask(olive, good)


def test_a_question_is_answered_by_the_one_who_asked_and_the_request_is_open_again(
    olive: User, abel: User
) -> None:
    request = ask(olive, proven("good"))
    decide(actor=abel, request=request, kind="ask_more", comment="What about 131K?")
    request.refresh_from_db()
    assert request.state == RequestState.NEEDS_MORE
    assert InboxItem.objects.filter(user=olive, notice__text="What about 131K?").exists()
    with pytest.raises(PermissionDenied):
        answer(actor=abel, request=request, comment="No idea.")
    answer(actor=olive, request=request, comment="Run 7 has it.")
    request.refresh_from_db()
    assert request.state == RequestState.OPEN


def test_only_its_requester_or_an_admin_withdraws_a_request(
    olive: User, abel: User, ada: User
) -> None:
    request = ask(olive, proven("good"))
    with pytest.raises(PermissionDenied, match="Only olive or an admin"):
        withdraw(actor=abel, request=request)
    withdraw(actor=ada, request=request, comment="wrong week")
    request.refresh_from_db()
    assert (request.state, request.explanation) == (RequestState.WITHDRAWN, "wrong week")
    with pytest.raises(PromotionRefused, match="withdrawn"):
        withdraw(actor=olive, request=request)


def test_a_request_that_nobody_decides_runs_out(olive: User, abel: User) -> None:
    request = ask(olive, proven("good"))
    just_before, at = request.expires_at - timedelta(seconds=1), request.expires_at
    assert expire_due(just_before) == 0
    PromotionRequest.objects.filter(pk=request.pk).update(expires_at=timezone.now())
    with pytest.raises(PromotionRefused, match="time to decide"):
        decide(actor=abel, request=request, kind="reject", comment="late")
    assert expire_due(at) == 1
    request.refresh_from_db()
    assert request.state == RequestState.EXPIRED
    assert state_of(request.deployment) == "unreviewed"
    assert InboxItem.objects.filter(user=olive, notice__kind="promotion_decided").exists()
