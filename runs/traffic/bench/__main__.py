"""Prints what taking in, counting, paging and drawing cost with a million records."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from catalog.models import Deployment, Revision

ROWS = 1_000_000
TAKEN_IN = 40_000  # the others are copies that the database makes of them
DAYS = 7
ROUNDS = 3
ENDINGS = ("stop",) * 97 + ("length", "", "tool_calls")


def main(rows: int = ROWS) -> None:
    """On a database of its own, which is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CLEANPASS_VAR"] = folder
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        print(f"Reported traffic: {rows:,} records over {DAYS} days (medians of {ROUNDS})")
        for name, ms, said in measure(rows):
            print(f"{name:<44} {ms:>9,.1f} ms  {said}")


def measure(rows: int) -> Iterator[tuple[str, float, str]]:
    from runs.traffic.services import ingest_from_command_line

    revision, end = new_revision()
    deployment = revision.deployment
    start = end - timedelta(days=DAYS)
    given: dict[str, Any] = {"deployment": deployment, "layer": "proxy", "source": "bench"}
    took_ms, report = timed(
        lambda: ingest_from_command_line(**given, lines=lines(TAKEN_IN, start)), rounds=1
    )
    rate = report.accepted / took_ms * 1000
    yield f"{report.accepted:,} lines taken in", took_ms, f"{rate:,.0f} lines/s"
    copy_records(rows // TAKEN_IN - 1)
    for name, work in readings(deployment, revision, start, end):
        took_ms, said = timed(work)
        yield name, took_ms, said


def copy_records(times: int) -> None:
    """Each record so many times more, some seconds apart, as SQLite can do it alone."""
    from django.db import connection

    from runs.traffic.models import Record

    names = [str(field.column) for field in Record._meta.concrete_fields if field.name != "id"]
    changed = {
        "external_id": "external_id || '-' || n",
        "at": "strftime('%Y-%m-%d %H:%M:%f000', at, '+' || n || ' seconds')",
    }
    told = ", ".join(changed.get(name, name) for name in names)
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < %s) "
            f"INSERT INTO traffic_record ({', '.join(names)}) "
            f"SELECT {told} FROM traffic_record, copy",
            [times],
        )
        cursor.execute("ANALYZE")


def readings(
    deployment: Deployment, revision: Revision, start: datetime, end: datetime
) -> Iterator[tuple[str, Callable[[], str]]]:
    """Each with what it found, in words."""
    from runs.traffic import selectors
    from runs.traffic.histogram import percentile

    middle = start + (end - start) / 2, 0
    week = selectors.hours(deployment, "proxy", start, end)

    def counted(since: datetime) -> str:
        return str(selectors.completed_between(deployment, revision, "proxy", since, end))

    def page(**more: Any) -> str:
        return f"{len(selectors.record_page(deployment, 'proxy', **more))} rows"

    def hourly() -> str:
        found = selectors.hours(deployment, "proxy", start, end)
        p95 = percentile(selectors.added_up(found)[1], 0.95)
        return f"{len(found)} hours, TTFT p95 {p95:,.0f} ms"

    yield "completed_between, a day", lambda: counted(end - timedelta(days=1))
    yield "completed_between, all", lambda: counted(start)
    yield "newest page", page
    yield "page in the middle", lambda: page(before=middle)
    yield "page of failed ones in the middle", lambda: page(before=middle, outcome="fail")
    yield "hours and percentiles of the week", hourly
    yield "ten slowest of the week", lambda: f"{len(selectors.slowest(week))} rows"


def lines(count: int, start: datetime) -> Iterator[bytes]:
    """Nearly all complete, in the order of time, seeded."""
    random = Random(7)
    step_s = DAYS * 86_400 / count
    for n in range(count):
        ttft_ms = random.lognormvariate(5.5, 0.6)
        told = {
            "id": f"r{n}",
            "at": (start + timedelta(seconds=n * step_s)).isoformat(),
            "route": "bench",
            "status": 200 if random.random() < 0.99 else 503,
            "streamed": True,
            "done_seen": True,
            "finish_reason": ENDINGS[random.randrange(100)],
            "ttft_ms": ttft_ms,
            "wall_ms": ttft_ms + random.uniform(100, 9000),
            "prompt_tokens": random.randrange(10, 4000),
            "completion_tokens": random.randrange(1, 900),
        }
        yield json.dumps(told).encode() + b"\n"


def new_revision() -> tuple[Revision, datetime]:
    """(a revision older than all records, now)."""
    from django.utils import timezone

    from catalog.models import Artifact, Deployment, Host, Revision, Runtime, RuntimeBuild

    now = timezone.now()
    runtime = Runtime.objects.create(key="bench", name="bench")
    deployment = Deployment.objects.create(
        slug="bench",
        canonical_route="bench",
        artifact=Artifact.objects.create(name="bench"),
        runtime=runtime,
        host=Host.objects.create(key="bench", name="bench"),
    )
    build = RuntimeBuild.objects.create(runtime=runtime)
    revision = Revision.objects.create(deployment=deployment, number=1, runtime_build=build)
    long_ago = now - timedelta(days=DAYS + 1)
    Revision.objects.filter(pk=revision.pk).update(created_at=long_ago)
    return revision, now


def timed(work: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """(median ms, the last result)."""
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        result = work()
        taken.append((time.perf_counter() - started) * 1000)
    return sorted(taken)[len(taken) // 2], result


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
