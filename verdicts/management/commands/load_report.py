"""`manage.py load_report [--remove]`: the example catalog, a field report's facts."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from catalog.report import read_report
from runs.engine.failure_classes import REPORT_FAILURES
from verdicts import report_import
from verdicts.policies.services import ensure_shipped_policies


class Command(BaseCommand):
    help = "Import the field report: 22 deployments with figures and verdicts. Safe to repeat."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--remove", action="store_true", help="take out what it imported")

    def handle(self, *args: Any, remove: bool, **options: Any) -> None:
        report = read_report()
        if remove:
            self._remove(report)
            return
        report_import.load(report, failure_classes=REPORT_FAILURES)
        ensure_shipped_policies()
        self.stdout.write(f"The report is loaded: {len(report['deployments'])} deployments.")

    def _remove(self, report: dict[str, Any]) -> None:
        kept = report_import.remove(report)
        for deployment in kept:
            self.stderr.write(
                f"Kept {deployment.slug}: it has runs, endpoints, revisions or verdicts of yours."
            )
        self.stdout.write(f"The report is taken out; {len(kept)} deployments were kept.")
