"""Memory pages: what was measured, what is extrapolated, what a report says, what is unknown."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from catalog.models import Deployment, ImportedFigure
from people.models import User
from runs.memory.models import GrowthPoint
from runs.memory.tests.conftest import GIB, write
from runs.memory.tests.test_growth import ask
from runs.models import Run, RunState, Suite

PER_TOKEN = 160_000  # bytes


def figure(html: str, key: str) -> dict[str, Any]:
    found = re.search(rf'<script id="{key}" type="application/json">(.*?)</script>', html)
    assert found, f"no chart {key}"
    data: dict[str, Any] = json.loads(found[1])
    return data


def grown(run: Run, *sizes: int, per_token: int = PER_TOKEN, noise: int = 0) -> None:
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, finished_at=timezone.now())
    for place, tokens in enumerate(sizes):
        error = noise if place % 2 else -noise
        GrowthPoint.objects.create(
            run=run,
            request_index=place,
            prompt_tokens=tokens,
            is_clean=True,
            figure="rss_bytes",
            before_bytes=20 * GIB,
            peak_bytes=20 * GIB + per_token * tokens + error,
            retained_bytes=20 * GIB + per_token * tokens // 2,
            after_other_bytes=20 * GIB + per_token * tokens // 2,
        )


def test_it_says_what_131k_in_all_slots_would_need(page: Callable[[str], str], run: Run) -> None:
    grown(run, 8192, 32768, 65536)
    html = page("/deployments/small/memory/")
    # 20 GiB idle + 8 x 131,072 x 160,000 bytes = 176.25 GiB
    assert "131K in 8 slots would need about 176 GiB ± under 0.1 GiB; the guard allows" in html
    assert "156 KiB ± under 0.1 per prompt token (n=3)" in html
    assert "358 GiB (70% of the machine&#x27;s 512 GiB)" in html
    assert "2 times beyond the largest measured prompt (65,536 tokens)" in html


def test_it_draws_measured_and_extrapolated_apart(page: Callable[[str], str], run: Run) -> None:
    grown(run, 8192, 32768, 65536, noise=GIB)
    traces = {t["name"]: t for t in figure(page("/deployments/small/memory/"), "growth")["data"]}
    measured, guessed = traces["Peak"], traces["Extrapolated, one slot"]
    assert measured["marker"]["symbol"] == "circle"
    assert guessed["marker"]["symbol"] == "diamond-open" and guessed["x"] == [131072, 200000]
    assert traces["Extrapolated"]["line"]["dash"] == "dot"
    assert min(guessed["error_y"]["array"]) > 0
    bars = {t["name"]: t for t in figure(page("/deployments/small/memory/"), "need")["data"]}
    assert bars["Growth, extrapolated"]["marker"]["pattern"]["shape"] == "/"


def test_it_gives_no_slope_from_one_size(page: Callable[[str], str], run: Run) -> None:
    grown(run, 8192)
    html = page("/deployments/small/memory/")
    assert "A slope needs a second size" in html and "would need" not in html


def test_it_extrapolates_nothing_from_noise(page: Callable[[str], str], run: Run) -> None:
    grown(run, 8192, 16384, 32768, 65536, per_token=1, noise=GIB)
    html = page("/deployments/small/memory/")
    assert "No growth with prompt size can be told from these 4 points" in html
    assert "Extrapolated" not in html


def test_it_counts_only_this_configuration(
    page: Callable[[str], str], make_run: Callable[..., Run], deployment: Deployment
) -> None:
    grown(make_run(), 8192, 32768)
    Run.objects.update(revision_fingerprint="another")
    assert "Not measured on this revision" in page("/deployments/small/memory/")


def test_it_shows_the_report_the_same_way_and_marks_it_imported(
    page: Callable[[str], str], deployment: Deployment
) -> None:
    for label, value in (("8K", 2.07), ("32K", 8.98), ("65K", 22.32)):
        ImportedFigure.objects.create(
            deployment=deployment,
            workload="retained cache",
            metric="memory_gib",
            unit="GiB",
            x_label=label,
            value=value,
            reported_on=date(2026, 7, 22),
        )
    html = page("/deployments/small/memory/")
    assert "Imported: retained cache, report of 2026-07-22. Shown, never counted." in html
    assert "a straight line is too low" in html
    assert "on top of the idle server, whose memory was not reported" in html
    traces = {t["name"]: t for t in figure(html, "imported-growth")["data"]}
    assert traces["Reported"]["y"] == [2.07, 8.98, 22.32]


def test_it_hands_out_what_is_drawn(client: Client, vera: User, run: Run) -> None:
    grown(run, 8192, 32768)
    client.force_login(vera)
    text = client.get("/deployments/small/memory/?csv=growth").content.decode()
    rows = list(csv.DictReader(text.splitlines()))
    peaks = [(r["x"], r["x_unit"], r["y_unit"]) for r in rows if r["series"] == "Peak"]
    assert peaks == [("8192.0", "prompt tokens", "GiB"), ("32768.0", "prompt tokens", "GiB")]
    assert client.get("/deployments/small/memory/?csv=nothing").status_code == 404


@pytest.fixture
def finished(run: Run) -> Run:
    """Ten minutes with requests, telemetry and a guard near by."""
    times = np.arange(0.0, 600_000, 500)
    write(run, "rss_bytes", times, 10 * GIB + times * 1000)
    write(run, "slots_busy", times[::5], times[::5] * 0 + 1)
    write(run, "kv_usage_ratio", times[::5], times[::5] / 1e6)
    ask(run, 0, 10, 60)
    ask(run, 1, 20, 60, outcome="fail")
    Run.objects.filter(pk=run.pk).update(
        state=RunState.FINISHED,
        outcome="clean_pass",
        started_at=timezone.now(),
        finished_at=timezone.now(),
        report={"memory": {"process_limit_bytes": 12 * GIB, "process_limit_origin": "x"}},
    )
    run.refresh_from_db()
    return run


def test_it_puts_memory_requests_and_load_of_a_run_on_one_axis(
    page: Callable[[str], str], finished: Run
) -> None:
    html = page(f"/runs/{finished.pk}/")
    assert "RSS began at 10 GiB, peaked at 10.6 GiB and ended at 10.6 GiB" in html
    chart = figure(html, "run-memory")
    traces = {trace["name"]: trace for trace in chart["data"]}
    assert traces["Process guard"]["y"] == [12.0, 12.0]
    lanes = traces["Requests: clean pass"]["y"] + traces["Requests: fail"]["y"]
    assert [y for y in lanes if y] == [1.0, 1.0, 2.0, 2.0], "open together: lanes of their own"
    assert {trace["yaxis"] for trace in chart["data"]} == {"y", "y2", "y3", "y4"}
    assert all("xaxis" not in trace for trace in chart["data"]), "one time axis"


def test_it_says_that_memory_of_a_server_elsewhere_was_not_observed(
    page: Callable[[str], str], run: Run
) -> None:
    reason = "box.example is another machine: its memory cannot be read from here."
    Run.objects.filter(pk=run.pk).update(
        state=RunState.FINISHED,
        outcome="clean_pass",
        report={"memory": {"not_observed": reason, "processes": []}},
    )
    html = page(f"/runs/{run.pk}/")
    assert f"The server&#x27;s memory was not observed. {reason}" in html


def test_it_tells_of_drift_only_where_a_run_was_long(
    page: Callable[[str], str], finished: Run
) -> None:
    assert "a day" not in page(f"/runs/{finished.pk}/")
    times = np.arange(0.0, 2 * 86_400_000, 60_000)
    write(finished, "rss_bytes", times, 10 * GIB + times / 86_400_000 * GIB)
    assert "RSS grew by 1 GiB a day over 48 h" in page(f"/runs/{finished.pk}/")


@pytest.fixture
def started(client: Client, olive: User, deployment: Deployment) -> Callable[..., Any]:
    """Olive presses Start with these limits."""
    Suite.objects.create(key="smoke", name="Smoke", checks=[{"key": "marker", "params": {}}])
    client.force_login(olive)

    def start(**limits: str) -> Any:
        return client.post(
            "/runs/start/",
            {"deployment": "small", "suite": "smoke", "layer": "direct", **limits},
        )

    return start


def test_it_guards_a_run_by_the_host_unless_a_person_says_otherwise(
    started: Callable[..., Any],
) -> None:
    started()
    started(process_limit_gib="8", growth_limit_mib_per_s="100")
    by_host, typed = (run.plan["guards"] for run in Run.objects.order_by("pk"))
    assert by_host["process_bytes"] == round(0.7 * 512 * GIB)
    assert by_host["origin"] == "70% of the machine's 512 GiB"
    assert typed["process_bytes"] == 8 * GIB and typed["origin"] == "typed in for this run"
    assert typed["available_floor_bytes"] == by_host["available_floor_bytes"]
    assert typed["growth_bytes_per_s"] == 100 * 1024**2


def test_it_refuses_a_limit_that_is_none(started: Callable[..., Any]) -> None:
    answer = started(process_limit_gib="-3")
    assert answer.status_code == 400
    assert "Memory limits" in answer.content.decode()
    assert not Run.objects.exists()
