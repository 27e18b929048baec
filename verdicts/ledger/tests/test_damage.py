"""What only a file that was written to by hand can hold: SQLite keeps text in any column."""

from __future__ import annotations

import pytest
from django.db import connection

from verdicts.ledger.services import verify_ledger
from verdicts.ledger.tests.making import fill, tamper


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("at = 'yesterday'", "Entry 3 was changed"),
        ("at = '2026-99-99 10:00:00'", "Entry 3 cannot be read"),
        ("title = X'00'", "Entry 3 cannot be read"),
        ("subject_id = 'x'", "Entry 3 was changed"),
        ("seq = 'x'", "Entry 3 cannot be read"),
    ],
)
def test_an_entry_that_no_longer_reads_is_named_like_any_other(change: str, why: str) -> None:
    fill(3)
    connection.cursor().execute("PRAGMA ignore_check_constraints = ON")
    tamper(f"UPDATE ledger_entry SET {change} WHERE seq = 3")
    connection.cursor().execute("PRAGMA ignore_check_constraints = OFF")
    found = verify_ledger()
    assert (found.broken_seq, found.why.split(":")[0]) == (3, why)
