"""What tests of every app share."""

from importlib import import_module

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

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


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Tests that commit empty every table when they end, which the ledger's triggers refuse."""
    refusal = import_module("verdicts.ledger.migrations.0003_refuse_deletes")
    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        refusal.remove(None, editor)
