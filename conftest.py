"""What tests of every app share."""

import pytest

pytest_plugins = ["demo.fixtures", "people.tests.cast"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--cases FILE` adds hard cases to those in `runs/engine/tests/cases`; may be repeated."""
    parser.addoption(
        "--cases",
        action="append",
        default=[],
        metavar="FILE",
        help="also play the hard cases of this JSON-lines file (repeatable)",
    )
