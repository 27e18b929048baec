"""`manage.py ingest_traffic`: completed-request records of a proxy, from a file or a pipe.

Exit code: 0 all taken or known, 1 some lines refused, 64 wrong usage.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError

from catalog.models import Deployment
from runs.traffic.reading import bounded_lines
from runs.traffic.services import LAYERS, Report, TrafficRefused, ingest_from_command_line

WRONG_USAGE = 64  # EX_USAGE of sysexits.h


class Command(BaseCommand):
    help = "Take in what a proxy reports, one JSON object a line. Sending it again does no harm."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("deployment", help="slug of a registered one")
        parser.add_argument("file", help="with the records; - for standard input")
        parser.add_argument("--layer", default="proxy", choices=[str(layer) for layer in LAYERS])
        parser.add_argument("--source", default="proxy", help="which proxy says so")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        deployment = Deployment.objects.filter(slug=options["deployment"]).first()
        if deployment is None:
            raise CommandError(
                f"No deployment is called {options['deployment']}.", returncode=WRONG_USAGE
            )
        try:
            with opened(options["file"]) as stream:
                report = ingest_from_command_line(
                    deployment=deployment,
                    layer=options["layer"],
                    source=options["source"],
                    lines=bounded_lines(stream),
                )
        except (OSError, TrafficRefused) as error:
            raise CommandError(str(error), returncode=WRONG_USAGE) from error
        self.stdout.write(json.dumps(asdict(report)) if options["as_json"] else told(report))
        if report.refused or report.is_cut:
            sys.exit(1)


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """The file, or standard input for `-`."""
    if name == "-":
        yield sys.stdin.buffer
    else:
        with Path(name).open("rb") as stream:
            yield stream


def told(report: Report) -> str:
    """The report for people."""
    lines = [
        f"Batch {report.batch_id}: {report.lines:,} lines, {report.accepted:,} accepted, "
        f"{report.duplicates:,} known already, {report.refused:,} refused."
    ]
    lines += [f"  line {refusal['line']}: {refusal['why']}" for refusal in report.refusals]
    if report.is_cut:
        lines.append("More lines came than one delivery may have; send the rest in another.")
    return "\n".join(lines)
