"""The ledger's chain, triggers and lock on PostgreSQL: the same tests as on SQLite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import postgres

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.real_server


def test_the_ledger_holds_on_postgresql_as_well(tmp_path: Path) -> None:
    tests = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    with postgres() as url:
        done = subprocess.run(
            [*tests, "verdicts/ledger/tests/test_chain.py", "verdicts/ledger/tests/test_pages.py"],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": url, "CLEANPASS_VAR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
