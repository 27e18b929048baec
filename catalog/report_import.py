"""Storing the field report in the catalog, and taking it out again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from catalog.models import (
    Alias,
    Artifact,
    Claim,
    Deployment,
    FollowUp,
    Host,
    ImportedFigure,
    InventoryName,
    Origin,
    ReportedFailure,
    Revision,
    Runtime,
    RuntimeBuild,
)
from catalog.report import (
    claims_on,
    deployment_note,
    deployment_slug,
    figures_of,
    model_parts,
    written_on,
)

GENERIC_RUNTIME = {"key": "openai", "name": "Any other OpenAI-compatible server", "formats": []}
CONFIG_FIELDS = {
    "parallel": "parallel",
    "context_total": "context_total",
    "context_per_slot": "context_per_slot",
    "kv": "kv_type",
    "prompt_cache_mib": "prompt_cache_mib",
    "checkpoints": "checkpoints",
}
ADMISSION = {"proxy_admission", "external_admission"}
# Words of a follow-up that name a deployment, by its number in the report.
NAMED_IN_FOLLOW_UPS = {
    "oMLX Heretic 35B": "B1",
    "Qwopus oQ6": "B5",
    "35B p8": "A1",
    "Gemma 4 31B IT": "D4",
}
ALIAS_KINDS = {
    "compatibility alias": Alias.Kind.COMPATIBILITY,
    "legacy alias": Alias.Kind.LEGACY,
}


@transaction.atomic
def import_report(report: dict[str, Any], *, failure_classes: Mapping[str, str]) -> None:
    """Add whatever of the report is not there yet; what is there stays as it is.

    `failure_classes` maps the report's failure keys to ours.
    """
    day = written_on(report)
    host = _import_host(report["host"])
    for row in [*report["runtimes"], GENERIC_RUNTIME]:
        _import_runtime(row)
    for row in report["deployments"]:
        _import_deployment(row, host, day)
    _import_names(report["inventory_only"], day)
    for row in report["claims"]:
        _import_claim(row, claims_on(report))
    for text in report["follow_ups"]:
        _import_follow_up(text, day)
    for row in report["failures"]:
        facts = {"seen": row["seen"], "cause": row["cause"], "prevention": row["prevent"]}
        facts |= {"reported_on": day, "failure_class": failure_classes.get(row["key"], "")}
        ReportedFailure.objects.get_or_create(report_key=row["key"], defaults=facts)


def _import_host(row: dict[str, Any]) -> Host:
    host, _ = Host.objects.get_or_create(
        key=row["name"],
        defaults={
            "name": row["name"],
            "chip": row["chip"],
            "os": row["os"],
            "memory_bytes": row["unified_memory_gib"] * 1024**3,
            "origin": Origin.IMPORTED,
        },
    )
    return host


def _import_runtime(row: dict[str, Any]) -> None:
    runtime, _ = Runtime.objects.get_or_create(
        key=row["key"],
        defaults={
            "name": row["name"],
            "formats": row["formats"],
            "trap": row.get("trap", ""),
            "origin": Origin.IMPORTED,
        },
    )
    for version in row.get("versions", []):
        RuntimeBuild.objects.get_or_create(runtime=runtime, version=version)


def _import_deployment(row: dict[str, Any], host: Host, day: date) -> None:
    artifact, _ = Artifact.objects.get_or_create(
        name=row["model"],
        format=row["format"],
        quantization=row.get("quantization", ""),
        origin=Origin.IMPORTED,
        defaults={"task": row["task"], **model_parts(row["model"])},
    )
    deployment, _ = Deployment.objects.get_or_create(
        report_id=row["id"],
        origin=Origin.IMPORTED,
        defaults={
            "slug": deployment_slug(row),
            "canonical_route": row.get("canonical", ""),
            "artifact": artifact,
            "runtime": Runtime.objects.get(key=row["runtime"]),
            "host": host,
            "note": deployment_note(row),
        },
    )
    if canonical := row.get("canonical"):
        Alias.objects.get_or_create(
            name=canonical,
            defaults={
                "kind": Alias.Kind.CANONICAL,
                "artifact": artifact,
                "origin": Origin.IMPORTED,
            },
        )
    _import_revision(deployment, row)
    _import_figures(deployment, row, day)


def _import_revision(deployment: Deployment, row: dict[str, Any]) -> None:
    if deployment.revisions.exists():
        return
    build, _ = RuntimeBuild.objects.get_or_create(
        runtime=deployment.runtime, version=str(row.get("runtime_version", ""))
    )
    config = row.get("config", {})
    rest = {k: v for k, v in config.items() if k not in CONFIG_FIELDS and k not in ADMISSION}
    Revision.objects.create(
        deployment=deployment,
        number=1,
        runtime_build=build,
        admission={k: config[k] for k in sorted(ADMISSION & set(config))},
        extra=rest,
        origin=Origin.IMPORTED,
        **{field: config[key] for key, field in CONFIG_FIELDS.items() if key in config},
    )


def _import_figures(deployment: Deployment, row: dict[str, Any], day: date) -> None:
    if deployment.figures.filter(origin=Origin.IMPORTED).exists():
        return
    ImportedFigure.objects.bulk_create(
        ImportedFigure(deployment=deployment, reported_on=day, **asdict(figure))
        for figure in figures_of(row)
    )


def _import_names(rows: list[dict[str, Any]], day: date) -> None:
    for row in rows:
        facts = {"status": row["status"], "treatment": row["treatment"], "reported_on": day}
        InventoryName.objects.get_or_create(name=row["name"], defaults=facts)
        for words, kind in ALIAS_KINDS.items():
            if row["status"].startswith(words):
                Alias.objects.get_or_create(
                    name=row["name"], defaults={"kind": kind, "origin": Origin.IMPORTED}
                )


def _import_claim(row: dict[str, Any], day: date) -> None:
    figures = dict(row["figures"])
    figures |= {f"{k}, without dflash": v for k, v in row.get("without_dflash", {}).items()}
    Claim.objects.get_or_create(
        subject=row["subject"],
        defaults={
            "hardware": row.get("hardware", ""),
            "source": f"community post, as told by the report of {day:%Y-%m-%d}",
            "figures": figures,
            "caveat": row["caveat"],
            "reported_on": day,
        },
    )


def _import_follow_up(text: str, day: date) -> None:
    follow_up, created = FollowUp.objects.get_or_create(
        text=text, origin=Origin.IMPORTED, defaults={"reported_on": day}
    )
    if created:
        named = [number for words, number in NAMED_IN_FOLLOW_UPS.items() if words in text]
        follow_up.deployments.set(
            Deployment.objects.filter(report_id__in=named, origin=Origin.IMPORTED)
        )


@transaction.atomic
def remove_report(report: dict[str, Any], *, keep: Q) -> list[Deployment]:
    """Take out what `import_report` made. Returns the deployments that stay.

    A deployment stays, with what it stands on, when somebody built on it since: an endpoint, a
    revision, or what `keep` (a condition on Deployment) says. So does a follow-up with a history.
    """
    imported = Deployment.objects.filter(
        origin=Origin.IMPORTED, report_id__in=[row["id"] for row in report["deployments"]]
    )
    used = Q(endpoints__isnull=False) | Q(revisions__in=_own_revisions()) | keep
    kept = list(imported.filter(used).distinct())
    follow_ups = FollowUp.objects.filter(text__in=report["follow_ups"], origin=Origin.IMPORTED)
    follow_ups.filter(entries=None).delete()
    imported.exclude(pk__in=[deployment.pk for deployment in kept]).delete()
    _remove_what_nothing_uses(report)
    return kept


def _own_revisions() -> QuerySet[Revision]:
    return Revision.objects.exclude(origin=Origin.IMPORTED)


def _remove_what_nothing_uses(report: dict[str, Any]) -> None:
    names = [row["name"] for row in report["inventory_only"]]
    failures = [row["key"] for row in report["failures"]]
    InventoryName.objects.filter(name__in=names, origin=Origin.IMPORTED).delete()
    ReportedFailure.objects.filter(report_key__in=failures, origin=Origin.IMPORTED).delete()
    Claim.objects.filter(subject__in=[row["subject"] for row in report["claims"]]).delete()
    Alias.objects.filter(origin=Origin.IMPORTED, artifact__deployments=None).delete()
    Artifact.objects.filter(origin=Origin.IMPORTED, deployments=None).delete()
    used_builds = Revision.objects.values("runtime_build")
    keys = [row["key"] for row in [*report["runtimes"], GENERIC_RUNTIME]]
    RuntimeBuild.objects.filter(runtime__key__in=keys).exclude(pk__in=used_builds).delete()
    Runtime.objects.filter(origin=Origin.IMPORTED, builds=None, deployments=None).delete()
    Host.objects.filter(origin=Origin.IMPORTED, deployments=None).delete()
