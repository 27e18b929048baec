"""Prints what the pages of campaigns cost with a million rows beside them."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from runs.campaigns.models import Campaign, Cycle
    from runs.models import Run, RunRequest

ROWS = 1_000_000
REQUESTS_A_CYCLE = 6
ROUNDS = 3
BATCH = 2_000


def main(rows: int = ROWS) -> None:
    """On a database of its own, which is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CLEANPASS_VAR"] = folder
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        started = time.perf_counter()
        campaigns = list(fill(rows))
        took_s = time.perf_counter() - started
        print(f"Campaigns: {rows:,} rows, {len(campaigns)} soaks, made in {took_s:,.0f} s")
        for name, path in pages(campaigns[len(campaigns) // 2]):
            print(f"{name:<36} {median_ms(path):>9,.1f} ms")


def pages(campaign: Campaign) -> Iterator[tuple[str, str]]:
    yield "list, twenty campaigns", "/campaigns/"
    yield "list, one deployment, last page", "/campaigns/?deployment=bench&page=999"
    yield "one soak with its charts", f"/campaigns/{campaign.pk}/"
    yield "its live part", f"/campaigns/{campaign.pk}/live/"
    yield "a close look at ten slots", f"/campaigns/{campaign.pk}/live/?from=500&to=509"
    yield "wall", "/campaigns/wall/"
    yield "its cycles through the API", f"/api/v1/cycles/?campaign={campaign.pk}"


def median_ms(path: str) -> float:
    """Of a few readings, after one that warms templates up."""
    from django.test import Client

    from people.models import User

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="bench"))
    times = []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        answer = client.get(path)
        times.append((time.perf_counter() - started) * 1000)
        if answer.status_code != 200:
            raise SystemExit(f"{path} answered {answer.status_code}")
    return statistics.median(times[1:])


def fill(rows: int) -> Iterator[Campaign]:
    """Soaks with cycles, a run for each, and requests, until there are that many rows."""
    from people.access import Role
    from people.services import create_person
    from runs.campaigns.kinds import TERMS
    from runs.campaigns.models import Kind

    create_person(name="bench", roles=[Role.ADMIN], password="a-long-enough-bench-password")
    terms = TERMS[Kind.SOAK]
    each = terms.slots * (1 + REQUESTS_A_CYCLE)
    for number in range(max(1, rows // each)):
        yield one_soak(number)


def one_soak(number: int) -> Campaign:
    from django.utils import timezone

    from runs.campaigns.kinds import TERMS
    from runs.campaigns.models import Campaign, Cycle, Kind
    from runs.models import Run, RunRequest

    terms, facts = TERMS[Kind.SOAK], lab()
    start = timezone.now() - timedelta(seconds=terms.duration_s, days=number)
    campaign = Campaign.objects.create(
        **facts, kind=Kind.SOAK, terms=terms.as_dict(), seed=number, state="passed",
        started_at=start, ends_at=start + timedelta(seconds=terms.duration_s),
        finished_at=start + timedelta(seconds=terms.duration_s), requested_by_name="bench",
    )  # fmt: skip
    random = Random(number)
    moments = [start + timedelta(seconds=n * terms.cycle_s) for n in range(terms.slots)]
    runs = Run.objects.bulk_create([run_at(at, facts) for at in moments], BATCH)
    Cycle.objects.bulk_create(
        [cycle_of(campaign, n, run, random) for n, run in enumerate(runs)], BATCH
    )
    RunRequest.objects.bulk_create(
        [request_of(run, i, random) for run in runs for i in range(REQUESTS_A_CYCLE)], BATCH
    )
    return campaign


def lab() -> dict[str, Any]:
    from catalog.models import Artifact, Deployment, Endpoint, Host, Revision, Runtime
    from catalog.runtimes import ensure_build

    host, _ = Host.objects.get_or_create(key="bench", defaults={"name": "Bench"})
    runtime, _ = Runtime.objects.get_or_create(key="llama-cpp", defaults={"name": "llama.cpp"})
    artifact, _ = Artifact.objects.get_or_create(name="Bench")
    deployment, is_new = Deployment.objects.get_or_create(
        slug="bench",
        defaults={
            "canonical_route": "bench", "artifact": artifact, "runtime": runtime, "host": host,
        },
    )  # fmt: skip
    if is_new:
        build = ensure_build(runtime, "b1")
        Revision.objects.create(deployment=deployment, number=1, runtime_build=build)
        address = {"base_url": "http://127.0.0.1:9/v1", "served_model": "bench"}
        Endpoint.objects.create(deployment=deployment, layer="direct", **address)
    revision = deployment.revisions.get()
    return {
        "deployment": deployment,
        "revision": revision,
        "revision_fingerprint": revision.fingerprint,
        "endpoint": deployment.endpoints.get(),
        "host": host,
        "layer": "direct",
    }


def run_at(at: datetime, facts: dict[str, Any]) -> Run:
    from runs.models import Run, Suite

    suite, _ = Suite.objects.get_or_create(key="bench", defaults={"name": "Bench", "checks": []})
    return Run(
        **facts, suite=suite, plan={}, code_version="bench", state="finished",
        outcome="clean_pass", started_at=at, finished_at=at + timedelta(seconds=40),
    )  # fmt: skip


def cycle_of(campaign: Campaign, number: int, run: Run, random: Random) -> Cycle:
    from runs.campaigns.models import Cycle

    assert run.started_at is not None
    is_clean = random.random() > 0.002
    return Cycle(
        campaign=campaign, number=number, run=run, due_at=run.started_at, state="done",
        outcome="clean_pass" if is_clean else "fail",
        failure_class="" if is_clean else "http_5xx", started_at=run.started_at,
        finished_at=run.finished_at, requests=REQUESTS_A_CYCLE, completed=REQUESTS_A_CYCLE,
        ttft_ms=random.gauss(200, 20), ttft_max_ms=random.gauss(300, 40),
        decode_tps=random.gauss(40, 2), rss_after_bytes=2**34 + number * 2**16,
    )  # fmt: skip


def request_of(run: Run, index: int, random: Random) -> RunRequest:
    from runs.models import RunRequest

    return RunRequest(
        run=run, index=index, check_key="stream", label="stream", streamed=True, cache="fresh",
        outcome="clean_pass", ttft_ms=random.gauss(200, 20), record={},
    )  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
