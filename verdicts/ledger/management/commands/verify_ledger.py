"""Verify the ledger's chain from its first entry to its last."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from verdicts.ledger.services import verify_ledger


class Command(BaseCommand):
    help = "Verify the ledger. Exit code 1 names the first broken entry."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--anchor",
            default="",
            metavar="HASH",
            help="a hash kept outside (of an export, or printed here before) that must be met",
        )

    def handle(self, *args: Any, anchor: str, **options: Any) -> None:
        found = verify_ledger(anchor=anchor)
        if found.why:
            raise CommandError(f"The ledger is broken. {found.why}")
        self.stdout.write(f"{found.entries:,} entries verified. Anchor: {found.head_hash}")
