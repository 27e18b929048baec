"""Rolling back, blocking, rejecting, reopening and retiring: quick, by one person."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from catalog.models import Deployment, Origin, Revision
from people.models import User
from verdicts.ledger.models import Entry
from verdicts.ledger.services import verify_ledger
from verdicts.models import Verdict, VerdictState
from verdicts.promotions.models import PrimarySlot, RequestState
from verdicts.promotions.refusals import PromotionRefused, Superseded
from verdicts.promotions.services import change_verdict, roll_back
from verdicts.promotions.services.standing import Change
from verdicts.promotions.slots import primaries_for, set_primary, slot_for
from verdicts.promotions.tests.lab import (
    ROLE,
    add_deployment,
    approve,
    ask,
    promoted,
    prove,
    proven,
    state_of,
)


def test_a_rollback_restores_the_former_primary_in_one_step(olive: User, abel: User) -> None:
    first, second = promoted(olive, abel, "first"), promoted(olive, abel, "second")
    restored = roll_back(actor=abel, request=second, comment="timeouts")
    assert restored is not None and restored.deployment == first.deployment
    assert restored.revision == first.revision
    assert state_of(second.deployment) == VerdictState.CANDIDATE
    slot = slot_for(ROLE)
    assert (slot.verdict, slot.promotion, slot.version) == (restored, first, 3)
    second.refresh_from_db()
    assert second.state == RequestState.ROLLED_BACK
    assert "timeouts" in second.explanation
    with pytest.raises(PromotionRefused, match="in force"):
        roll_back(actor=abel, request=second)


def test_rollbacks_go_back_step_by_step_to_nobody(olive: User, abel: User) -> None:
    first, second = promoted(olive, abel, "first"), promoted(olive, abel, "second")
    with pytest.raises(PromotionRefused, match="in force"):
        roll_back(actor=abel, request=first)
    roll_back(actor=abel, request=second)
    first.refresh_from_db()
    assert roll_back(actor=abel, request=first) is None
    assert primaries_for(ROLE) == []
    assert state_of(first.deployment) == VerdictState.CANDIDATE


def test_an_operator_does_not_roll_back(olive: User, abel: User) -> None:
    request = promoted(olive, abel, "good")
    with pytest.raises(PermissionDenied):
        roll_back(actor=olive, request=request)


def test_a_new_revision_of_the_primary_is_promoted_and_rolled_back_to_the_older_one(
    olive: User, abel: User
) -> None:
    first = promoted(olive, abel, "good")
    good, old = first.deployment, first.revision
    Revision.objects.filter(pk=old.pk).update(is_active=False)
    Revision.objects.create(deployment=good, number=2, runtime_build=old.runtime_build, parallel=4)
    prove(good)
    again = ask(olive, good)
    approve(abel, again)
    assert state_of(good) == VerdictState.PRIMARY
    again.refresh_from_db()
    roll_back(actor=abel, request=again)
    verdict = good.verdicts.first()
    assert verdict is not None
    assert (verdict.state, verdict.revision) == (VerdictState.PRIMARY, old)


def test_a_blocked_former_primary_is_not_restored(olive: User, abel: User) -> None:
    first, second = promoted(olive, abel, "first"), promoted(olive, abel, "second")
    block(abel, first.deployment)
    with pytest.raises(PromotionRefused, match="first is blocked by now"):
        roll_back(actor=abel, request=second)


def block(person: User, deployment: Deployment) -> Verdict:
    return change_verdict(
        actor=person,
        deployment=deployment,
        change="block",
        reason="answers 404",
        unblocks_when="artifact found",
    )


def test_blocking_the_primary_leaves_its_role_empty_and_can_still_be_rolled_back(
    olive: User, abel: User
) -> None:
    first, second = promoted(olive, abel, "first"), promoted(olive, abel, "second")
    verdict = block(abel, second.deployment)
    assert (verdict.reason, verdict.unblocks_when) == ("answers 404", "artifact found")
    assert primaries_for(ROLE) == []
    assert PrimarySlot.objects.get(role=ROLE).verdict is None
    roll_back(actor=abel, request=second)
    assert state_of(first.deployment) == VerdictState.PRIMARY
    assert state_of(second.deployment) == VerdictState.BLOCKED


def test_a_block_names_what_would_end_it_and_every_change_has_a_reason(abel: User) -> None:
    toy = add_deployment("toy")
    for change, reason in (("block", "x"), ("reject", " "), ("archive", "x")):
        with pytest.raises(ValidationError):
            change_verdict(actor=abel, deployment=toy, change=change, reason=reason)
    assert state_of(toy) == "unreviewed"


def test_an_operator_gives_no_verdict(olive: User) -> None:
    with pytest.raises(PermissionDenied):
        block(olive, add_deployment("toy"))


def test_blocking_closes_open_requests(olive: User, abel: User) -> None:
    request = ask(olive, proven("good"))
    block(abel, request.deployment)
    request.refresh_from_db()
    assert request.state == RequestState.SUPERSEDED
    assert "answers 404" in request.explanation


def test_what_was_rejected_is_reopened_with_a_reason(abel: User) -> None:
    toy = add_deployment("toy")
    change_verdict(
        actor=abel, deployment=toy, change="reject", reason="slow", failure_class="too_slow"
    )
    with pytest.raises(PromotionRefused, match="rejected: only a primary can be retired"):
        change_verdict(actor=abel, deployment=toy, change=Change.RETIRE, reason="x")
    given = change_verdict(actor=abel, deployment=toy, change="reopen", reason="new runtime")
    assert (given.state, given.reason) == (VerdictState.CANDIDATE, "new runtime")
    assert [v.state for v in toy.verdicts.all()] == ["candidate", "rejected"]


def test_a_promotion_retires_the_primary_that_a_report_named(olive: User, abel: User) -> None:
    old = add_deployment("old")
    reported = Verdict.objects.create(
        deployment=old,
        state=VerdictState.PRIMARY,
        role="default agent route",
        author_name="field report",
        origin=Origin.IMPORTED,
        decided_at=timezone.now(),
    )
    request = promoted(olive, abel, "new")
    assert request.given is not None and request.given.former == reported
    assert state_of(old) == VerdictState.CANDIDATE
    roll_back(actor=abel, request=request)
    assert [v.deployment for v in primaries_for(ROLE)] == [old]


def test_retiring_the_reported_primary_leaves_nobody(abel: User) -> None:
    old = add_deployment("old")
    Verdict.objects.create(
        deployment=old,
        state=VerdictState.PRIMARY,
        role="default agent route",
        author_name="field report",
        decided_at=timezone.now(),
    )
    change_verdict(actor=abel, deployment=old, change="retire", reason="end of life")
    assert primaries_for(ROLE) == []


def test_a_slot_that_changed_since_it_was_read_is_not_overwritten(olive: User, abel: User) -> None:
    read_before = slot_for(ROLE)
    request = promoted(olive, abel, "good")
    with pytest.raises(Superseded):
        set_primary(read_before, verdict=None, promotion=None)
    assert slot_for(ROLE).verdict == request.given


def test_every_step_has_its_entry_in_the_ledger_and_the_chain_is_whole(
    olive: User, abel: User
) -> None:
    request = promoted(olive, abel, "good")
    roll_back(actor=abel, request=request, comment="timeouts")
    block(abel, request.deployment)
    assert Entry.objects.filter(kind="evidence", subject_kind="campaign").count() == 3
    entries = Entry.objects.exclude(kind__in=["evidence", "policy"]).order_by("seq")
    assert [entry.kind for entry in entries] == [
        "request", "approval", "verdict", "request", "verdict", "rollback", "verdict",
    ]  # fmt: skip
    approval = entries[1]
    assert approval.actor_name == "abel"
    assert approval.payload["evaluation"]["gates"][0]["state"] == "pass"
    assert approval.payload["digest"] == request.evaluation.digest
    assert verify_ledger().why == ""
