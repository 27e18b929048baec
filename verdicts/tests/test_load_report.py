from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db.models import Model
from django.utils import timezone

from catalog.models import (
    Alias,
    Artifact,
    Claim,
    Deployment,
    Endpoint,
    FollowUp,
    Host,
    ImportedFigure,
    InventoryName,
    Origin,
    ReportedFailure,
    Runtime,
)
from catalog.report import figures_of, read_report
from runs.models import Run, Suite
from verdicts.models import Verdict

pytestmark = pytest.mark.django_db


def load(*arguments: str) -> str:
    out = StringIO()
    call_command("load_report", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def everything() -> dict[str, list[dict[str, Any]]]:
    """Every row of the catalog and the verdicts."""
    models: list[type[Model]] = [*apps.get_app_config("catalog").get_models(), Verdict]
    return {
        model.__name__: list(model._default_manager.order_by("pk").values()) for model in models
    }


def test_it_brings_in_the_whole_report() -> None:
    load()
    report = read_report()
    assert Deployment.objects.count() == 22
    assert Runtime.objects.count() == 8
    assert InventoryName.objects.count() == 9
    assert Claim.objects.count() == 3
    assert FollowUp.objects.count() == 5
    assert ReportedFailure.objects.count() == 8
    figures = sum(len(list(figures_of(row))) for row in report["deployments"])
    assert ImportedFigure.objects.filter(origin=Origin.IMPORTED).count() == figures
    assert {str(f.reported_on) for f in ImportedFigure.objects.all()} == {"2026-07-22"}
    assert {str(claim.reported_on) for claim in Claim.objects.all()} == {"2026-07-26"}


def test_each_verdict_enters_with_label_and_reason() -> None:
    load()
    states = sorted(Verdict.objects.values_list("state", flat=True))
    assert {s: states.count(s) for s in set(states)} == {
        "primary": 4,
        "candidate": 8,
        "blocked": 2,
        "rejected": 7,
    }
    verdict = Verdict.objects.get(deployment__report_id="B4")
    assert verdict.label == "discarded, port reclaimed"
    assert verdict.reason == "100K ends part way (MLX 27B)"
    assert verdict.failure_class == "partial_prefill"
    stalled = Verdict.objects.get(deployment__report_id="D2")
    assert "no answer within 600 s" in stalled.reason
    assert stalled.failure_class == "queue_stall"
    assert all(Verdict.objects.exclude(label="").values_list("author_name", flat=True))


def test_gemma_stays_unreviewed() -> None:
    load()
    gemma = Deployment.objects.get(report_id="D4")
    assert not gemma.verdicts.exists()
    assert "re-validation due" in gemma.note


def test_revisions_hold_the_reported_configuration() -> None:
    load()
    a1 = Deployment.objects.get(report_id="A1").revisions.get()
    assert (a1.parallel, a1.context_total, a1.context_per_slot) == (8, 1048576, 131072)
    assert (a1.kv_type, a1.prompt_cache_mib, a1.checkpoints) == ("F16", 65536, 128)
    a2 = Deployment.objects.get(report_id="A2").revisions.get()
    assert a2.admission == {"proxy_admission": [1, 2]}
    d2 = Deployment.objects.get(report_id="D2").revisions.get()
    assert d2.runtime_build.version == "2.2"
    assert d2.extra == {"scheduler": "serial", "mtp_depth": 3}


def test_follow_ups_are_tied_to_the_deployments_they_name() -> None:
    load()
    tied = [
        sorted(follow_up.deployments.values_list("report_id", flat=True))
        for follow_up in FollowUp.objects.order_by("pk")
    ]
    assert tied == [["B1", "B5"], ["A1"], [], ["D4"], []]


def test_failure_rows_name_our_classes() -> None:
    load()
    classes = dict(ReportedFailure.objects.values_list("report_key", "failure_class"))
    assert classes["partial_prefill"] == "partial_prefill"
    assert all(classes.values())


def test_names_that_are_aliases_are_known_as_such() -> None:
    load()
    kinds = sorted(Alias.objects.values_list("kind", flat=True))
    assert kinds == ["canonical", "canonical", "compatibility", "legacy"]


def test_running_it_twice_changes_nothing() -> None:
    load()
    before = everything()
    load()
    assert everything() == before


def test_removing_takes_out_exactly_what_it_made() -> None:
    Runtime.objects.create(key="ollama", name="Our Ollama")
    Host.objects.create(key="mine", name="Mine")
    before = everything()
    load()
    assert "0 deployments were kept" in load("--remove")
    assert everything() == before


def test_removing_keeps_a_deployment_that_got_a_run() -> None:
    load()
    deployment = Deployment.objects.get(report_id="A1")
    endpoint = Endpoint.objects.create(
        deployment=deployment, layer="direct", base_url="http://mac:1/v1", served_model="x"
    )
    suite = Suite.objects.create(key="smoke", name="Smoke", checks=[])
    revision = deployment.revisions.get()
    Run.objects.create(
        deployment=deployment,
        revision=revision,
        endpoint=endpoint,
        host=deployment.host,
        layer="direct",
        suite=suite,
        plan={},
        revision_fingerprint=revision.fingerprint,
        code_version="test",
    )
    said = load("--remove")
    assert f"Kept {deployment.slug}" in said
    assert list(Deployment.objects.all()) == [deployment]
    assert deployment.figures.exists()
    assert deployment.verdicts.exists()
    assert Artifact.objects.count() == 1
    assert Host.objects.count() == 1


def test_removing_keeps_a_deployment_that_was_judged_here() -> None:
    load()
    deployment = Deployment.objects.get(report_id="D4")
    Verdict.objects.create(
        deployment=deployment, state="blocked", author_name="Abel", decided_at=timezone.now()
    )
    load("--remove")
    assert list(Deployment.objects.all()) == [deployment]


def test_loading_again_after_removing_restores_it() -> None:
    load()
    load("--remove")
    load()
    assert Deployment.objects.count() == 22
    assert Verdict.objects.count() == 21
