"""Prints query and render cost of a run's memory chart at 10k, 100k and 1M samples."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from runs.models import Run

SIZES = (10_000, 100_000, 1_000_000)
ROUNDS = 5
COLUMNS = "{:>10} {:>8} {:>9} {:>9} {:>9} {:>8} {:>9} {:>10}"


def main() -> None:
    """On a database of its own, which is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CLEANPASS_VAR"] = folder
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        print("Memory series: storing, reading thinned, building the figure, drawing it")
        print(f"(medians of {ROUNDS}, in ms; drawn in Chromium where it is installed)")
        heads = ("samples", "chunks", "stored MB", "store", "query", "points", "figure", "draw")
        print(COLUMNS.format(*heads))
        for size in SIZES:
            print(COLUMNS.format(*measure(size)))


def measure(size: int) -> list[str]:
    import numpy as np

    from runs.memory.models import SeriesChunk
    from runs.memory.reading import read_series
    from runs.memory.run_chart import run_chart

    run = new_run()
    times = np.arange(size) * 1000.0
    noise = np.random.default_rng(7).normal(0, 5e6, size)
    values = 30e9 + times * 2 + noise.cumsum() / 50
    store_ms, _ = timed(lambda: store(run, times, values), rounds=1)
    query_ms, series = timed(lambda: read_series(run.pk, "rss_bytes"))
    figure_ms, chart = timed(lambda: run_chart(run))
    chunks = SeriesChunk.objects.filter(run=run)
    stored = sum(len(data) for data in chunks.values_list("data", flat=True))
    drawn = draw_ms(chart.figure) if chart else None
    return [
        f"{size:,}",
        f"{chunks.count():,}",
        f"{stored / 1e6:.2f}",
        f"{store_ms:,.0f}",
        f"{query_ms:.1f}",
        f"{len(series.times_ms):,}",
        f"{figure_ms:.1f}",
        "-" if drawn is None else f"{drawn:.0f}",
    ]


def timed(work: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """(median ms, the last result)."""
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        result = work()
        taken.append((time.perf_counter() - started) * 1000)
    return sorted(taken)[len(taken) // 2], result


def store(run: Run, times: Any, values: Any) -> None:
    from runs.memory.writing import SeriesWriter

    writer = SeriesWriter(run.pk)
    pairs = zip(times.tolist(), values.tolist(), strict=True)
    writer.add((t, {"rss_bytes": value}) for t, value in pairs)
    writer.save(now=True)


def new_run() -> Run:
    """The least that a series can hang on."""
    from catalog.models import Artifact, Deployment, Endpoint, Host, Revision, Runtime
    from catalog.models import RuntimeBuild as Build
    from runs.models import Run, Suite

    n = Run.objects.count()
    runtime, _ = Runtime.objects.get_or_create(key="bench", name="bench")
    host, _ = Host.objects.get_or_create(key="bench", name="bench")
    deployment = Deployment.objects.create(
        slug=f"bench-{n}",
        artifact=Artifact.objects.create(name=f"bench {n}"),
        runtime=runtime,
        host=host,
    )
    build, _ = Build.objects.get_or_create(runtime=runtime)
    suite, _ = Suite.objects.get_or_create(key="bench", name="bench", checks=[])
    return Run.objects.create(
        deployment=deployment,
        revision=Revision.objects.create(deployment=deployment, number=1, runtime_build=build),
        endpoint=Endpoint.objects.create(deployment=deployment, layer="direct"),
        host=host,
        layer="direct",
        suite=suite,
        plan={},
        code_version="bench",
    )


def draw_ms(figure: dict[str, Any]) -> float | None:
    """Until Plotly has drawn it in Chromium; None without one."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        return None
    from playwright.sync_api import sync_playwright

    from runs.plots.stylesheet import BUNDLE

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_content("<div id=picture></div>")
        page.add_script_tag(path=str(BUNDLE))
        script = """async (figure) => {
            const started = performance.now();
            await Plotly.newPlot("picture", figure.data, figure.layout);
            return performance.now() - started;
        }"""
        taken = sorted(page.evaluate(script, json.loads(json.dumps(figure))) for _ in range(3))
        browser.close()
    return float(taken[1])


if __name__ == "__main__":
    main()
