"""`manage.py probe`: the same run as in the browser, or a single look at any address.

Exit code: 0 clean pass, 1 fail or degraded, 2 inconclusive, 64 wrong usage.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.engine.outcomes import Outcome
from runs.probing import (
    AddressProbe,
    address_as_dict,
    describe,
    probe_address,
    probe_deployment,
    run_as_dict,
)

EXIT_CODES = {
    Outcome.CLEAN_PASS: 0,
    Outcome.FAIL: 1,
    Outcome.DEGRADED: 1,
    Outcome.INCONCLUSIVE: 2,
}
WRONG_USAGE = 64  # EX_USAGE of sysexits.h


class Command(BaseCommand):
    help = "Probe a deployment, or with --url any address that speaks the OpenAI protocol."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("deployment", nargs="?", help="slug or route of a registered one")
        parser.add_argument("--suite", default="smoke", help="with a deployment (default: smoke)")
        parser.add_argument("--layer", default="direct", help="process, direct, gateway or proxy")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
        single = parser.add_argument_group("an address that is not registered")
        single.add_argument("--url", help="base URL, such as http://127.0.0.1:8080/v1")
        single.add_argument("--model", default="", help="model name to send")
        single.add_argument("--check", action="append", dest="checks", help="may be repeated")
        single.add_argument("--runtime", default="", help="adapter; found out when left out")
        single.add_argument("--marker", default="", help="text that the marker check expects")
        single.add_argument("--expect-tool", default="", help="function that must be called")
        single.add_argument("--tokens", type=int, help="prompt size of the long check")
        single.add_argument("--clients", type=int, help="open requests of the concurrency check")
        single.add_argument("--api-key-env", default="", help="NAME of the variable with the key")
        for clock, what in (
            ("connect", "until connected"),
            ("prefill", "until the first token"),
            ("idle", "between two tokens"),
            ("total", "for one whole request"),
            ("load", "for a server that is still loading"),
        ):
            single.add_argument(f"--{clock}-timeout", type=float, help=f"seconds {what}")

    def run_from_argv(self, argv: list[str]) -> None:
        """argparse exits with 2 on wrong usage; here 2 means inconclusive."""
        self._called_from_command_line = True
        try:
            self.create_parser(argv[0], argv[1]).parse_args(argv[2:])
        except SystemExit as ended:
            sys.exit(WRONG_USAGE if ended.code else 0)
        super().run_from_argv(argv)

    def handle(self, *args: Any, **options: Any) -> None:
        report = self._probe(options)
        if options["as_json"]:
            self.stdout.write(json.dumps(report, indent=2))
        else:
            self.stdout.write(describe(report))
        sys.exit(EXIT_CODES[Outcome(report["outcome"])])

    def _probe(self, options: dict[str, Any]) -> dict[str, Any]:
        by_url, by_name = options["url"], options["deployment"]
        if bool(by_url) == bool(by_name):
            raise usage("Name one deployment, or give --url for an address.")
        try:
            if by_name:
                run = probe_deployment(by_name, options["suite"], options["layer"])
                return run_as_dict(run)
            return address_as_dict(probe_address(address_probe(options)))
        except ValueError as error:
            raise usage(str(error)) from error


def usage(message: str) -> CommandError:
    return CommandError(message, returncode=WRONG_USAGE)


def address_probe(options: dict[str, Any]) -> AddressProbe:
    """The options of --url mode; only the clocks that were given are changed."""
    clocks = ("connect", "prefill", "idle", "total", "load")
    given = {f"{c}_s": options[f"{c}_timeout"] for c in clocks if options[f"{c}_timeout"]}
    params = {
        "marker": options["marker"],
        "expect_tool": options["expect_tool"],
        "tokens": options["tokens"],
        "clients": options["clients"],
    }
    return AddressProbe(
        base_url=options["url"],
        model=options["model"],
        runtime=options["runtime"],
        layer=options["layer"],
        api_key_env=options["api_key_env"],
        checks=tuple(options["checks"] or ["marker"]),
        params={name: value for name, value in params.items() if value},
        deadlines=given,
    )
