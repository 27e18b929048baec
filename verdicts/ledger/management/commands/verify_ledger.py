"""Verify the ledger's chain from its first entry to its last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from verdicts.ledger.export import verify_export
from verdicts.ledger.services import verify_ledger


class Command(BaseCommand):
    help = "Verify the ledger. Exit code 1 names the first broken entry."

    def add_arguments(self, parser: CommandParser) -> None:
        kept = parser.add_mutually_exclusive_group()
        kept.add_argument(
            "--anchor",
            default="",
            metavar="HASH",
            help="a hash kept outside (of an export, or printed here before) that must be met",
        )
        kept.add_argument(
            "--export",
            type=Path,
            metavar="FILE",
            help="an export kept outside: it is verified too, and its end must be met",
        )

    def handle(self, *args: Any, anchor: str, export: Path | None = None, **options: Any) -> None:
        found = verify_ledger(anchor=self.anchor_of(export) if export else anchor)
        if found.why:
            raise CommandError(f"The ledger is broken. {found.why}")
        self.stdout.write(f"{found.entries:,} entries verified. Anchor: {found.head_hash}")

    def anchor_of(self, export: Path) -> str:
        """The last hash of a sound export."""
        try:
            with export.open(encoding="utf-8") as lines:
                found = verify_export(lines)
        except OSError as error:
            raise CommandError(f"{export} cannot be read: {error.strerror}.") from None
        if found.why:
            raise CommandError(f"The export is broken. {found.why}")
        self.stdout.write(f"{found.entries:,} entries of the export verified.")
        return found.head_hash
