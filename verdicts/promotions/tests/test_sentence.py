"""The one sentence of every deployment, the shipped catalog's 22 first."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.utils import timezone

from catalog.models import Deployment, Revision
from people.models import User
from verdicts.promotions.selectors import verdict_history
from verdicts.promotions.sentence import sentence_about
from verdicts.promotions.services import change_verdict
from verdicts.promotions.tests.lab import add_deployment, ask, promoted, proven


def said(deployment: Deployment) -> str:
    holds = verdict_history(deployment).first()
    return sentence_about(deployment, holds, at=timezone.now())


def test_the_shipped_verdicts_read_well(db: None) -> None:
    call_command("load_report", verbosity=0)
    deployments = Deployment.objects.exclude(report_id="")
    sentences = {deployment.report_id: said(deployment) for deployment in deployments}
    assert len(sentences) == 22
    for sentence in sentences.values():
        assert sentence.startswith(("Primary: ", "Not primary ", "Unreviewed: "))
        assert sentence.endswith(".") and not sentence.endswith("..")
        assert "None" not in sentence and ".;" not in sentence and ";." not in sentence
    assert "as reported, left to prove it here:" in sentences["A1"]
    assert "Not primary yet: strongest uncensored MLX candidate – left for" in sentences["B1"]
    assert "reopened" in sentences["B4"]
    assert "blocked until artifact found" in sentences["B7"]
    assert "blocked until format fixed" in sentences["C7"]


@pytest.mark.django_db
def test_it_says_how_many_gates_are_left_and_the_first() -> None:
    sentence = said(add_deployment("bare"))
    assert sentence.startswith("Unreviewed: ")
    assert "left for agent route: 19 of 19 gates, first identity verified." in sentence


def test_it_says_that_a_request_is_possible_or_waits(olive: User) -> None:
    good = proven("good")
    assert "are met, so it can be requested" in said(good)
    request = ask(olive, good)
    assert f"request #{request.pk} for agent route waits for a decision" in said(good)


def test_a_primary_says_when_another_revision_is_active(olive: User, abel: User) -> None:
    good = promoted(olive, abel, "good").deployment
    assert said(good) == "Primary: agent route."
    old = good.revisions.get()
    Revision.objects.filter(pk=old.pk).update(is_active=False)
    Revision.objects.create(deployment=good, number=2, runtime_build=old.runtime_build, parallel=4)
    assert "given to revision 1, 2 is active, left for agent route:" in said(good)


def test_a_block_says_what_would_end_it(abel: User) -> None:
    toy = add_deployment("toy")
    change_verdict(
        actor=abel, deployment=toy, change="block", reason="404", unblocks_when="artifact found"
    )
    assert said(toy) == "Not primary because: 404 – blocked until artifact found."
