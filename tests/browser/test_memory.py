"""Memory charts in a real browser: a soak-length series, the report's, themes, a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.conftest import sign_in
from tests.lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.real_server]

MAX_POINTS = 5_000
SOAK = """
import numpy as np
from django.utils import timezone
from catalog.models import Deployment
from runs.memory.writing import SeriesWriter
from runs.models import Run, Suite
deployment = Deployment.objects.filter(endpoints__isnull=False).first()
revision = deployment.revisions.first()
run = Run.objects.create(
    deployment=deployment, revision=revision, endpoint=deployment.endpoints.first(),
    host=deployment.host, layer="direct", suite=Suite.objects.first(), plan={},
    revision_fingerprint=revision.fingerprint, code_version="test", state="finished",
    outcome="clean_pass", started_at=timezone.now(), finished_at=timezone.now(),
)
times = np.arange(7 * 86_400) * 1000.0
values = 30e9 + times * 2
values[400_000] = 80e9
values[100_000:103_600] = np.nan
writer = SeriesWriter(run.pk)
writer.add(
    (t, {"rss_bytes": None if np.isnan(v) else v, "gap": "asleep"})
    for t, v in zip(times.tolist(), values.tolist())
)
writer.save(now=True)
print("RUN", run.pk)
"""


@pytest.fixture(scope="module")
def soak(lab: Lab) -> str:
    """Address of a run with a sample a second for seven days."""
    made = lab.manage("shell", "-c", SOAK)
    found = re.search(r"RUN (\d+)", made.stdout)
    assert found, made.stderr
    return f"/runs/{found[1]}/"


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """What the browser's console says: refused styles and broken scripts would show here."""
    heard: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            heard.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: heard.append(str(error)))
    return heard


def drawn(page: Page, key: str) -> dict[str, object]:
    """What Plotly holds of a chart."""
    picture = page.locator(f"[data-chart={key}]")
    expect(picture.locator(".main-svg").first).to_be_visible()
    found: dict[str, object] = picture.evaluate(
        """(element) => ({
            points: element.data.reduce((sum, trace) => sum + trace.x.length, 0),
            highest: Math.max(...element.data[0].y.filter((y) => y !== null)),
            gaps: element.data[0].y.filter((y) => y === null).length,
            colour: element.data[0].line.color,
            wide: element.scrollWidth <= element.clientWidth,
        })"""
    )
    return found


def test_it_draws_a_soak_of_seven_days_with_its_peak_and_gap(
    page: Page, soak: str, complaints: list[str]
) -> None:
    sign_in(page, "vera")
    page.goto(soak)
    chart = drawn(page, "run-memory")
    assert 100 < int(str(chart["points"])) < MAX_POINTS
    assert float(str(chart["highest"])) == pytest.approx(80e9 / 2**30, rel=1e-3)
    assert chart["gaps"]
    finding = page.locator("[aria-labelledby=run-memory-title] .chart-finding")
    expect(finding).to_contain_text("peaked at 74.5 GiB")
    expect(finding).to_contain_text("RSS grew by")
    assert complaints == [], "a strict content policy, and nothing is refused"


def test_it_changes_its_colours_with_the_theme(page: Page, soak: str) -> None:
    sign_in(page, "vera")
    page.goto(soak)
    before = drawn(page, "run-memory")["colour"]
    page.evaluate("window.cleanpassTheme.set('dark')")
    dark = drawn(page, "run-memory")["colour"]
    page.evaluate("window.cleanpassTheme.set('light')")
    light = drawn(page, "run-memory")["colour"]
    assert dark != light and before in (dark, light)


def test_it_stays_readable_on_a_phone_with_its_table(page: Page, soak: str) -> None:
    sign_in(page, "vera")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(soak)
    assert drawn(page, "run-memory")["wide"]
    page.locator("[aria-labelledby=run-memory-title] summary").click()
    table = page.get_by_role("region", name=re.compile("as a table"))
    expect(table.get_by_role("rowheader", name="RSS")).to_be_visible()
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0, "the page itself never scrolls sideways"


def test_it_shows_the_reports_series_as_imported(page: Page, complaints: list[str]) -> None:
    sign_in(page, "vera")
    page.goto("/?q=Abliterated")
    page.get_by_role("table").get_by_role("link", name=re.compile("Abliterated")).first.click()
    page.get_by_role("link", name="Memory", exact=True).click()
    drawn(page, "imported-growth")
    expect(page.get_by_text("Shown, never counted.")).to_be_visible()
    expect(page.get_by_text("a straight line is too low")).to_be_visible()
    assert complaints == []
