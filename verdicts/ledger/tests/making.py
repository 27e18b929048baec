"""Entries made for tests, and what somebody with the database's password can do to them."""

from __future__ import annotations

from django.db import connection

from people.models import User
from verdicts.ledger.services import append


def fill(entries: int, actor: User | None = None, deployment: str = "toy") -> None:
    for number in range(1, entries + 1):
        append(
            kind="verdict",
            actor=actor,
            subject_kind="verdict",
            subject_id=number,
            title=f"Primary: model {number}",
            path="/deployments/toy/",
            payload={"deployment": deployment, "number": number, "reason": "Größe 131K <b>"},
        )


def tamper(*statements: str) -> None:
    """Triggers are no obstacle to them."""
    on_table = "" if connection.vendor == "sqlite" else " ON ledger_entry"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER IF EXISTS ledger_entry_never_changes{on_table}")
        for statement in statements:
            cursor.execute(statement)
