"""Write the ledger as JSON lines, oldest first."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from verdicts.ledger.export import json_lines


class Command(BaseCommand):
    help = "Write the ledger as JSON lines to standard output; each can be verified again."

    def handle(self, *args: Any, **options: Any) -> None:
        for line in json_lines():
            self.stdout.write(line, ending="")
