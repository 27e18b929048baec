"""A rehearsal on the real demo server, followed live in a browser, and its runs side by side."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_probe import open_demo, start
from tests.conftest import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.real_server]

FIRST_CYCLE_MS = 120_000


def run_numbers(page: Page) -> list[str]:
    """The clean runs that the picker offers, newest first."""
    page.goto("/compare/")
    boxes = page.locator("input[name=run]")
    return [str(boxes.nth(n).get_attribute("value")) for n in range(boxes.count())]


def test_olive_rehearses_a_canary_sees_it_fill_ends_it_and_compares_its_runs(page: Page) -> None:
    sign_in(page, "olive")
    open_demo(page)
    page.get_by_role("link", name="Campaign", exact=True).click()
    page.get_by_label("What it asks").select_option("chat")
    page.get_by_label("Rehearsal").fill("10")
    page.get_by_label("A cycle every").fill("25")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/campaigns/\d+/$"))
    expect(page.get_by_text("satisfies no gate")).to_be_visible()
    expect(page.get_by_text("Another model, digest or version")).to_be_visible()
    clean = page.locator("#line-title + .cycle-line .cycle-clean")
    expect(clean.first).to_be_visible(timeout=FIRST_CYCLE_MS)  # without a reload

    clean.first.click()
    expect(page.get_by_role("heading", name="Cycles 0 on")).to_be_visible()
    page.get_by_text("End", exact=True).click()
    page.get_by_label("Reason").fill("Enough seen.")
    page.get_by_role("button", name="End it now").click()
    expect(page.get_by_text("Ended by olive before its time. Enough seen.").first).to_be_visible()

    open_demo(page)
    start(page)
    expect(page.get_by_text("Everything that was asked")).to_be_visible(timeout=FIRST_CYCLE_MS)
    runs = run_numbers(page)
    for number in runs[:2]:
        page.locator(f"input[name=run][value='{number}']").check()
    page.get_by_role("button", name="Compare runs").click()
    expect(page.get_by_text("figures compared")).to_be_visible()
    expect(page.get_by_text("single values").first).to_be_visible()
    expect(page.locator(".chart-picture svg").first).to_be_visible()
