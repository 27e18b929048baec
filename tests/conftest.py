"""A running lab and a browser, shared by the tests that use the product as a person does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.lab import PASSWORD, Lab

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PEOPLE = {"olive": "operator", "abel": "approver", "vera": "viewer"}


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The whole lab on the server-free stack, with Olive, Abel and Vera."""
    running = Lab(tmp_path_factory.mktemp("lab"))
    running.start()
    for name, role in PEOPLE.items():
        running.add_person(name, role)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium. It keeps an event loop in this thread, so it ends with its file."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        pytest.skip("Chromium is not installed: the browser tests were NOT run")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser, lab: Lab) -> Iterator[BrowserContext]:
    """A fresh browser context: no cookies, and no request may leave the lab."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, base_url=lab.url)
    strangers: list[str] = []
    context.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((lab.url, "data:", "blob:", lab.url.replace("http", "ws")))
            else strangers.append(request.url)
        ),
    )
    yield context
    context.close()
    assert strangers == [], "a page asked another server"


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page whose script errors fail the test."""
    page = context.new_page()
    page.set_default_timeout(20_000)
    return page


def sign_in(page: Page, name: str) -> None:
    """Through the form, as a person does."""
    page.goto("/login/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/login/" not in url)
