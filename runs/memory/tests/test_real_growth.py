"""The demo llama.cpp server at rising prompt sizes, against its own arithmetic."""

from __future__ import annotations

import threading

import pytest

from catalog.models import Deployment
from demo.fixtures import running_demo
from demo.server import demo_model
from runs.engine.gguf_header import kv_shape
from runs.engine.plan import CheckSpec
from runs.engine.session import run_plan_sync
from runs.engine.tests.running import Recorder, plan
from runs.memory.growth import record_growth
from runs.memory.metrics import SAMPLE_KINDS
from runs.memory.projection import growth_points, measured_growth
from runs.memory.reading import read_series, series_names
from runs.memory.writing import SeriesWriter
from runs.models import Run, RunState
from runs.storage import store_requests

pytestmark = [pytest.mark.real_server, pytest.mark.django_db]

TOLERANCE = 0.15  # of the server's own bytes per token; pages and rounding are in it
SIZES = (512, 1536)  # with the first, less than the 64 MiB that its prompt cache may hold
HUGE_PAGES_BYTES = 2 * 2 * 2**20  # the kernel may round both ends up to pages of 2 MiB
REST_S = 2.0


def test_it_measures_the_slope_that_the_model_file_promises(
    run: Run, deployment: Deployment
) -> None:
    """llama.cpp keeps the state of each prompt in its prompt cache, KV bytes for each token."""
    recorder = Recorder()
    growth = [CheckSpec("growth", {"tokens": n, "idle_s": REST_S}) for n in SIZES]
    with running_demo("--slots", "2", "--context-per-slot", "2048") as base_url:
        wanted = plan(base_url, CheckSpec("long", {"tokens": 520}), "marker", *growth)
        report = run_plan_sync(wanted, recorder, threading.Event())
    writer = SeriesWriter(run.pk)
    writer.add((p["t_ms"], p) for kind, p in recorder.events if kind in SAMPLE_KINDS)
    writer.save(now=True)
    store_requests(run.pk, (request.as_dict() for request in report.requests))
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED)
    record_growth(run.pk)

    revision = deployment.revisions.get()
    measured = measured_growth(revision, growth_points(revision))
    promised = kv_shape(str(demo_model())).bytes_per_token("F16")
    assert measured.fit is not None, report.explanation
    assert measured.fit.slope == pytest.approx(promised, rel=TOLERANCE)
    kept = [p.kept_bytes for p in growth_points(revision) if p.after_other_bytes is not None]
    assert kept == [
        pytest.approx(n * promised, rel=2 * TOLERANCE, abs=HUGE_PAGES_BYTES) for n in SIZES
    ]

    assert {"rss_bytes", "slots_busy", "prompt_tokens_total"} <= series_names(run.pk)
    counted = read_series(run.pk, "prompt_tokens_total").values
    assert counted[-1] >= sum(SIZES), "the server's own counter"
    assert read_series(run.pk, "slots_busy").values.max() == 1
