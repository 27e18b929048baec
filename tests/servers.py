"""Real servers for tests, each in a folder and on a port of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def eventually(condition: Callable[[], bool], *, deadline_s: float, what: str) -> None:
    """Poll until true; AssertionError naming what was waited for."""
    end_s = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end_s, f"not within {deadline_s:.0f} s: {what}"
        # Another process decides when: this only keeps the poll from spinning.
        threading.Event().wait(0.05)


def postgres_program(name: str) -> str | None:
    """Debian keeps the server programs out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A fresh PostgreSQL; yields its URL. As root it runs as the user `postgres`."""
    initdb, server = postgres_program("initdb"), postgres_program("postgres")
    if not initdb or not server:
        pytest.skip("PostgreSQL is not installed: the stack on PostgreSQL was NOT tested")
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    # Not below pytest's own folder: that one is closed to other users.
    with tempfile.TemporaryDirectory(prefix="cleanpass-postgres-") as folder:
        if as_user:
            shutil.chown(folder, "postgres")
        data, port = f"{folder}/data", free_port()
        init = [*as_user, initdb, "-D", data, "-U", "lab", "-A", "trust", "--no-sync"]
        subprocess.run(init, check=True, stdout=subprocess.DEVNULL, cwd="/")
        options = ["-p", str(port), "-k", "", "-c", "listen_addresses=127.0.0.1"]
        options += ["-c", "fsync=off"]
        process = subprocess.Popen([*as_user, server, "-D", data, *options], cwd="/")
        url = f"postgres://lab@127.0.0.1:{port}/postgres"
        try:
            eventually(lambda: _accepts_postgres(url), deadline_s=60, what="PostgreSQL answers")
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _accepts_postgres(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


@contextlib.contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """A fresh Redis without persistence; yields its URL."""
    program = shutil.which("redis-server")
    if not program:
        pytest.skip("Redis is not installed: the stack on Redis was NOT tested")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    url = f"redis://127.0.0.1:{port}/0"
    try:
        eventually(lambda: _accepts_redis(url), deadline_s=30, what="Redis answers")
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _accepts_redis(url: str) -> bool:
    try:
        return bool(redis.Redis.from_url(url).ping())
    except redis.exceptions.ConnectionError:
        return False
