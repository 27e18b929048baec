"""The ledger's chain: what holds it together, and that every way of tampering is found."""

from __future__ import annotations

import threading
from datetime import date
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from people.models import User
from verdicts.ledger.chain import canonical
from verdicts.ledger.export import json_lines, verify_export
from verdicts.ledger.models import Entry, Head, LedgerIsAppendOnly
from verdicts.ledger.services import append, verify_ledger
from verdicts.ledger.tests.making import fill, tamper


@pytest.mark.django_db
def test_a_whole_chain_verifies_and_names_its_anchor(olive: User) -> None:
    fill(5, olive)
    found = verify_ledger()
    assert (found.entries, found.why, found.broken_seq) == (5, "", None)
    assert found.head_hash == Entry.objects.get(seq=5).entry_hash
    assert verify_ledger(anchor=Entry.objects.get(seq=2).entry_hash).why == ""
    assert "nowhere in the chain" in verify_ledger(anchor="ab" * 32).why


@pytest.mark.django_db
def test_an_empty_ledger_is_whole() -> None:
    assert verify_ledger().why == ""


SWAP = (
    "UPDATE ledger_entry SET seq = 99 WHERE seq = 2",
    "UPDATE ledger_entry SET seq = 2 WHERE seq = 3",
    "UPDATE ledger_entry SET seq = 3 WHERE seq = 99",
)
# An entry of somebody's own, rightly chained to the one before it.
COPY = (
    "INSERT INTO ledger_entry (seq, kind, at, actor_name, subject_kind, subject_id, title, path, "
    "payload, content_digest, previous_hash, entry_hash) SELECT {seq}, kind, at, 'eve', "
    "subject_kind, subject_id, title, path, payload, content_digest, (SELECT entry_hash FROM "
    "ledger_entry WHERE seq = {seq} - 1), 'forged' FROM ledger_entry WHERE seq = 1"
)
INSERT = (
    "UPDATE ledger_entry SET seq = seq + 100 WHERE seq >= 3",
    COPY.format(seq=3),
    "UPDATE ledger_entry SET seq = seq - 99 WHERE seq > 100",
    "UPDATE ledger_head SET count = 6",
)
CLOSE_UP = (
    "DELETE FROM ledger_entry WHERE seq = 3",
    "UPDATE ledger_entry SET seq = 3 WHERE seq = 4",
    "UPDATE ledger_entry SET seq = 4 WHERE seq = 5",
    "UPDATE ledger_head SET count = 4",
)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statements", "seq", "why"),
    [
        (["UPDATE ledger_entry SET title = 'Blocked' WHERE seq = 3"], 3, "Entry 3 was changed"),
        (["UPDATE ledger_entry SET actor_name = 'eve' WHERE seq = 1"], 1, "Entry 1 was changed"),
        (
            ["UPDATE ledger_entry SET payload = '{\"number\": 9}' WHERE seq = 4"],
            4,
            "The content of entry 4 was changed",
        ),
        (["DELETE FROM ledger_entry WHERE seq = 3"], 3, "Entry 3 is missing"),
        (["DELETE FROM ledger_entry WHERE seq = 5"], 5, "the end was cut off"),
        (["DELETE FROM ledger_entry"], 1, "had 5 entries and has 0"),
        (SWAP, 2, "Entry 2 was put in another order"),
        (INSERT, 3, "Entry 3 was inserted"),
        (CLOSE_UP, 3, "an entry before it is missing"),
        (["UPDATE ledger_head SET count = 4"], 5, "Entry 5 was inserted"),
        (["UPDATE ledger_head SET last_hash = 'x'"], 5, "not the one that the head"),
    ],
)
def test_whatever_is_tampered_with_is_found_and_named(
    statements: list[str], seq: int, why: str
) -> None:
    fill(5)
    tamper(*statements)
    found = verify_ledger()
    assert found.broken_seq == seq
    assert why in found.why
    with pytest.raises(CommandError, match="The ledger is broken"):
        call_command("verify_ledger")


@pytest.mark.django_db
def test_an_entry_written_with_a_right_hash_of_its_own_is_found_by_the_next() -> None:
    fill(3)
    forged = Entry.objects.get(seq=2)
    tamper("DELETE FROM ledger_entry WHERE seq = 2", "UPDATE ledger_head SET count = 1")
    Head.objects.update(last_hash=Entry.objects.get(seq=1).entry_hash)
    append(
        kind="verdict",
        actor=None,
        subject_kind="verdict",
        subject_id=2,
        title="Rejected: model 2",
        payload=forged.payload,
    )
    Head.objects.update(count=3, last_hash=Entry.objects.get(seq=3).entry_hash)
    found = verify_ledger()
    assert (found.broken_seq, found.why.split(":")[0]) == (2, "Entry 2 was replaced")


@pytest.mark.django_db
def test_nothing_here_is_changed_or_deleted_by_our_own_code() -> None:
    fill(1)
    entry = Entry.objects.get()
    entry.title = "Something else"
    for attempt in (entry.save, entry.delete, Entry.objects.all().delete):
        with pytest.raises(LedgerIsAppendOnly):
            attempt()
    with pytest.raises(LedgerIsAppendOnly):
        Entry.objects.update(title="x")
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        connection.cursor().execute("UPDATE ledger_entry SET title = 'x'")


@pytest.mark.django_db
def test_the_database_itself_deletes_nothing() -> None:
    fill(1)
    # Taken away once for all tests (conftest.py), put back here.
    refusal = import_module("verdicts.ledger.migrations.0003_refuse_deletes")
    refusal.add(None, connection.schema_editor())
    with pytest.raises(DatabaseError, match="never deleted"), transaction.atomic():
        connection.cursor().execute("DELETE FROM ledger_entry")
    assert Entry.objects.count() == 1


@pytest.mark.django_db
def test_figures_read_the_same_from_every_database() -> None:
    """PostgreSQL's jsonb gives 1e16 and -0.0 back as whole numbers, SQLite as they were."""
    entry = append(
        kind="evidence",
        actor=None,
        subject_kind="run",
        subject_id=1,
        title="Counted",
        payload={"bytes": 1e16, "share": 0.1, "drift": -0.0, "day": date(2026, 1, 2)},
    )
    assert canonical(entry.payload) == (
        b'{"bytes":10000000000000000,"day":"2026-01-02","drift":0,"share":0.1}'
    )
    assert verify_ledger().why == ""
    with pytest.raises(ValueError, match="not JSON compliant"):
        append(
            kind="evidence",
            actor=None,
            subject_kind="run",
            subject_id=1,
            title="Counted",
            payload={"share": float("nan")},
        )


@pytest.mark.django_db
def test_what_is_rolled_back_leaves_no_entry() -> None:
    fill(1)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        fill(1)
        raise ZeroDivisionError
    fill(1)
    assert list(Entry.objects.order_by("seq").values_list("seq", flat=True)) == [1, 2]
    assert verify_ledger().why == ""


@pytest.mark.django_db(transaction=True)
def test_writers_at_one_moment_never_fork_the_chain() -> None:
    together = threading.Barrier(4)

    def write() -> None:
        together.wait(10)
        fill(5)
        connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert verify_ledger().entries == 20


@pytest.mark.django_db
def test_an_export_verifies_without_the_database_and_anchors_it(tmp_path: Path) -> None:
    fill(3)
    export = tmp_path / "ledger.jsonl"
    lines = list(json_lines())
    export.write_text("".join(lines), "utf-8")
    fill(1)
    call_command("verify_ledger", export=export)
    for broken, seq in (
        ([lines[0], lines[2]], 2),
        ([lines[1], lines[0], lines[2]], 1),
        ([lines[0], lines[1].replace("model 2", "model 9"), lines[2]], 2),
        ([lines[0], "[1]", lines[2]], 2),
        ([lines[0], "{}"], 2),
    ):
        assert verify_export(broken).broken_seq == seq


@pytest.mark.django_db
def test_a_ledger_written_anew_from_end_to_end_is_found_against_an_export(tmp_path: Path) -> None:
    fill(3)
    export = tmp_path / "ledger.jsonl"
    with export.open("w", encoding="utf-8") as file:
        call_command("export_ledger", stdout=file)
    tamper("DELETE FROM ledger_entry", "DELETE FROM ledger_head")
    fill(4, deployment="forged")
    call_command("verify_ledger")
    with pytest.raises(CommandError, match="nowhere in the chain"):
        call_command("verify_ledger", export=export)
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("verify_ledger", export=tmp_path / "other")
