"""From the grid to a heat-map that fills, in a real browser on real launched servers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.test_probe import open_demo
from tests.conftest import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.real_server]

WHOLE_SWEEP_MS = 240_000


def type_grid(page: Page) -> None:
    page.get_by_label("Server").select_option("demo")
    page.get_by_label("Runtime parallel").fill("1, 2")
    page.get_by_label("Client concurrency").fill("1, 2")
    page.get_by_label("Prompt size").fill("")
    page.get_by_label("Context per slot").fill("1024")


def test_olive_plans_a_sweep_and_watches_it_fill_in_two_browsers(
    page: Page, context: BrowserContext
) -> None:
    sign_in(page, "olive")
    open_demo(page)
    page.get_by_role("link", name="Sweep", exact=True).click()
    type_grid(page)
    page.get_by_label("Total context").fill("1024, 4096")
    page.get_by_role("button", name="Show the plan").click()
    expect(page.get_by_role("alert").first).to_contain_text("2 slots × 1,024 tokens = 2,048")
    expect(page.get_by_label("Runtime parallel")).to_have_value("1, 2")
    page.get_by_label("Total context").fill("1024, 2048")
    page.get_by_role("button", name="Show the plan").click()
    expect(page.get_by_label("Plan", exact=True)).to_contain_text("2 slots × 1,024 tokens = 2,048")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/sweeps/\d+/$"))

    measured = ".heat td.square-done strong"
    expect(page.locator(measured).first).to_be_visible(timeout=WHOLE_SWEEP_MS)
    page.reload()
    second = context.new_page()
    second.goto(page.url)
    for view in (page, second):
        expect(view.locator(".mark", has_text="Finished")).to_be_visible(timeout=WHOLE_SWEEP_MS)
        expect(view.locator(measured)).to_have_count(4)
    expect(page.locator(".chart-finding").first).to_contain_text("completes")
    expect(page.locator(".chart-picture svg").first).to_be_visible()
    page.locator(".heat td.square-done a").first.click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    expect(page.get_by_text(re.compile(r"Sweep #\d+, cell \d"))).to_be_visible()
