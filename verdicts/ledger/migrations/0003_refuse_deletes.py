"""The database itself refuses to delete an entry, or to empty the table."""

from django.db import migrations

SQLITE = """
CREATE TRIGGER ledger_entry_never_goes BEFORE DELETE ON ledger_entry
BEGIN SELECT RAISE(ABORT, 'An entry of the ledger is never deleted.'); END
"""
POSTGRESQL = """
CREATE FUNCTION ledger_entry_never_goes() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'An entry of the ledger is never deleted.'; END $$;
CREATE TRIGGER ledger_entry_never_goes BEFORE DELETE OR TRUNCATE ON ledger_entry
FOR EACH STATEMENT EXECUTE FUNCTION ledger_entry_never_goes();
"""
DROP_SQLITE = "DROP TRIGGER IF EXISTS ledger_entry_never_goes"
DROP_POSTGRESQL = "DROP FUNCTION IF EXISTS ledger_entry_never_goes() CASCADE"


def add(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    schema_editor.execute(POSTGRESQL if is_postgresql else SQLITE)


def remove(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    schema_editor.execute(DROP_POSTGRESQL if is_postgresql else DROP_SQLITE)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0002_refuse_updates")]
    operations = [migrations.RunPython(add, remove)]
