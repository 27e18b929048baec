"""`manage.py add_person NAME --role operator`: a person with a one-time password."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from people.access import Role
from people.services import create_person, parse_role


class Command(BaseCommand):
    help = "Add a person. Prints the one-time password, which the first log-in replaces."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--role", action="append", default=[], help=f"{', '.join(Role)}; may be repeated"
        )

    def handle(self, *args: Any, name: str, role: list[str], **options: Any) -> None:
        try:
            roles = [parse_role(text) for text in role or [Role.VIEWER]]
            _, password = create_person(name=name, roles=roles)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"{name} ({', '.join(roles)}), one-time password: {password}")
