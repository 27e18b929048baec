"""A real Celery worker in a process of its own, on the test's database and a broker of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from celery import Celery
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent.parent


def worker_environment(folder: Path) -> dict[str, str]:
    """The settings of another process that sees the test's database."""
    env = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
    env |= {"CLEANPASS_VAR": str(folder), "CLEANPASS_HEARTBEAT_S": "0.3"}
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        # Under the usual name, so that the worker gets the usual SQLite settings.
        (folder / "cleanpass.sqlite3").symlink_to(Path(database["NAME"]).resolve())
        env.pop("DATABASE_URL", None)
    else:
        place = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
        who = ":".join(filter(None, (database["USER"], database["PASSWORD"])))
        env["DATABASE_URL"] = f"postgres://{who}@{place}"
    return env


def queue_folder(folder: Path) -> Path:
    return folder / "broker" / "queue"


def doorbell_app(folder: Path) -> Celery:
    """What rings the worker of this folder."""
    queue = queue_folder(folder)
    queue.mkdir(parents=True, exist_ok=True)
    app = Celery("test", broker="filesystem://", set_as_current=False)
    app.conf.broker_transport_options = {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "control_folder": str(folder / "broker" / "control"),
    }
    return app


@contextmanager
def measuring_worker(folder: Path, host_key: str) -> Iterator[subprocess.Popen[bytes]]:
    """Killed at the end, whatever it does by then."""
    command = [sys.executable, "-m", "celery", "--app", "config", "worker"]
    command += ["--pool", "threads", "--concurrency", "1", "--queues", f"measure.{host_key}"]
    command += ["--hostname", f"measure-{host_key}@test", "--loglevel", "INFO"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    with (folder / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=worker_environment(folder), stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(20)
