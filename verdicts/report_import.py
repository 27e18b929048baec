"""The verdicts of the field report: label and reason as it gave them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any

from django.db import transaction
from django.db.models import Q

from catalog.models import Deployment, Origin
from catalog.report import written_on
from catalog.report_import import import_report, remove_report
from runs.models import Run
from verdicts.ledger.selectors import entry_of
from verdicts.ledger.services import record_verdict
from verdicts.models import Verdict

AUTHOR = "field report"


@transaction.atomic
def load(report: dict[str, Any], *, failure_classes: Mapping[str, str]) -> None:
    """The whole report, verdicts included. Running it again changes nothing."""
    import_report(report, failure_classes=failure_classes)
    seen = {row["key"]: row["seen"] for row in report["failures"]}
    decided_at = datetime.combine(written_on(report), time(), UTC)
    for row in report["deployments"]:
        if row["verdict"]["state"]:
            _import_verdict(row, seen, failure_classes, decided_at)


def _import_verdict(
    row: dict[str, Any],
    seen: Mapping[str, str],
    failure_classes: Mapping[str, str],
    decided_at: datetime,
) -> None:
    verdict = row["verdict"]
    failure = verdict.get("failure", "")
    given, is_new = Verdict.objects.get_or_create(
        deployment=Deployment.objects.get(report_id=row["id"], origin=Origin.IMPORTED),
        origin=Origin.IMPORTED,
        defaults={
            "state": verdict["state"],
            "role": verdict.get("role", ""),
            "label": verdict["label"],
            "reason": reason_of(row, seen),
            "failure_class": failure_classes.get(failure, failure),
            "unblocks_when": verdict.get("unblocks_when", ""),
            "author_name": AUTHOR,
            "decided_at": decided_at,
        },
    )
    if is_new or entry_of("verdict", given.pk) is None:
        record_verdict(given)


def reason_of(row: dict[str, Any], seen: Mapping[str, str]) -> str:
    """Why: in the report's words, else its failure row, else what its failed tests noted."""
    verdict = row["verdict"]
    if why := verdict.get("why") or seen.get(verdict.get("failure", "")):
        return str(why)
    failed = [m for m in row.get("measurements", []) if m.get("passed") is False]
    return "; ".join(f"{m['workload']}: {m['note']}" for m in failed if "note" in m)


def remove(report: dict[str, Any]) -> list[Deployment]:
    """Take the report out. Returns the deployments kept because something was built on them."""
    judged_here = Verdict.objects.exclude(origin=Origin.IMPORTED).values("deployment")
    return remove_report(
        report, keep=Q(pk__in=Run.objects.values("deployment")) | Q(pk__in=judged_here)
    )
