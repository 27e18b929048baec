"""The story of a probe in a real browser, on the real demo server."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.conftest import sign_in
from tests.lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.real_server]

WHOLE_RUN_MS = 240_000


def open_demo(page: Page) -> None:
    """From the inventory to the demo deployment."""
    page.goto("/?q=smollm2")
    table = page.get_by_role("table")
    table.get_by_role("link", name=re.compile("smollm2", re.IGNORECASE)).first.click()
    page.wait_for_url("**/deployments/**")


def start(page: Page, suite: str = "smoke") -> None:
    """From the deployment's page to the live page."""
    page.get_by_role("link", name="Probe").click()
    if suite != "smoke":
        page.get_by_label("Suite").select_option(suite)
        expect(page.locator("form[method=post] input[name=suite]")).to_have_value(suite)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))


def test_olive_filters_opens_probes_watches_and_reads_the_outcome(page: Page) -> None:
    sign_in(page, "olive")
    expect(page.get_by_role("heading", name="Inventory")).to_be_visible()
    open_demo(page)
    start(page)
    expect(page.locator("[data-live=lanes] li").first).to_be_visible()
    expect(page.locator(".banner.outcome-clean_pass")).to_be_visible(timeout=WHOLE_RUN_MS)
    expect(page.get_by_role("heading", name="Clean pass")).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()


def test_it_loses_nothing_on_reload_or_in_a_second_browser(
    page: Page, context: BrowserContext
) -> None:
    sign_in(page, "olive")
    open_demo(page)
    start(page)
    expect(page.locator("[data-live=lanes] li").first).to_be_visible()
    page.reload()
    second = context.new_page()
    second.goto(page.url)
    for view in (page, second):
        expect(view.locator(".banner")).to_be_visible(timeout=WHOLE_RUN_MS)
    rows = page.locator("table.requests tbody tr, .request-row")
    assert rows.count() == second.locator("table.requests tbody tr, .request-row").count()


def test_olive_cancels_and_the_record_says_so(page: Page) -> None:
    sign_in(page, "olive")
    open_demo(page)
    start(page, suite="full")
    expect(page.locator("[data-live=lanes] li").first).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".banner.outcome-inconclusive")).to_be_visible(timeout=15_000)
    expect(page.get_by_role("heading", name=re.compile("Cancelled"))).to_be_visible()


def test_vera_may_look_but_not_start(page: Page, lab: Lab) -> None:
    sign_in(page, "vera")
    open_demo(page)
    expect(page.get_by_role("link", name="Probe")).to_have_count(0)
    slug = page.url.rstrip("/").rpartition("/")[2]
    token = next(c["value"] for c in page.context.cookies() if c["name"] == "csrftoken")
    answer = page.request.post(
        f"{lab.url}/runs/start/",
        form={"deployment": slug, "suite": "smoke", "layer": "direct"},
        headers={"X-CSRFToken": token, "Referer": lab.url},
    )
    assert answer.status == 403


def test_it_says_what_is_wrong_with_an_address_and_keeps_the_form(page: Page) -> None:
    sign_in(page, "admin")
    page.goto("/deployments/new/")
    field = page.get_by_label(re.compile("address", re.IGNORECASE)).first
    field.fill("http://127.0.0.1:9/v1")
    page.get_by_role("button", name="Discover").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    expect(field).to_have_value("http://127.0.0.1:9/v1")
