"""The database itself refuses to change an entry. Deleting is found by verification."""

from django.db import migrations

SQLITE = """
CREATE TRIGGER ledger_entry_never_changes BEFORE UPDATE ON ledger_entry
BEGIN SELECT RAISE(ABORT, 'An entry of the ledger never changes.'); END
"""
POSTGRESQL = """
CREATE FUNCTION ledger_entry_never_changes() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'An entry of the ledger never changes.'; END $$;
CREATE TRIGGER ledger_entry_never_changes BEFORE UPDATE ON ledger_entry
FOR EACH ROW EXECUTE FUNCTION ledger_entry_never_changes();
"""


def add(apps, schema_editor):
    sql = POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE
    schema_editor.execute(sql)


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION ledger_entry_never_changes() CASCADE")
    else:
        schema_editor.execute("DROP TRIGGER ledger_entry_never_changes")


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial")]
    operations = [migrations.RunPython(add, remove)]
