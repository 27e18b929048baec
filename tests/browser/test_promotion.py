"""From missing gates to a primary and back, by two people, in a real browser."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import sign_in
from tests.lab import Lab

pytestmark = pytest.mark.browser

MAKE = "from verdicts.promotions.tests.lab import *; "


def shell(lab: Lab, code: str) -> None:
    """Rows made directly: campaigns of days are not waited for in a test."""
    done = lab.manage("shell", "-v0", "-c", MAKE + code)
    assert done.returncode == 0, done.stderr


def ask_for(page: Page, slug: str) -> None:
    page.goto(f"/deployments/{slug}/promote/")
    page.get_by_label("Reason").fill("Twice as fast at 131K, same gates.")
    page.get_by_role("button", name="Request promotion").click()
    page.wait_for_url(re.compile(r"/promotions/\d+/$"))


def expect_sentence(page: Page, slug: str, sentence: str) -> None:
    page.goto(f"/deployments/{slug}/")
    expect(page.locator(".banner h2")).to_contain_text(sentence)


def run_sql(lab: Lab, sql: str, *values: str | int) -> list[tuple[str, ...]]:
    """What somebody with the database file in hand can do."""
    with closing(sqlite3.connect(lab.folder / "cleanpass.sqlite3", timeout=20)) as database:
        rows = database.execute(sql, values).fetchall()
        database.commit()
    return rows


@contextmanager
def another_approver(lab: Lab) -> Iterator[int]:
    """The last approval says another name, until the block ends. Gives the entry's number."""
    [(seq, name)] = run_sql(
        lab,
        "SELECT seq, actor_name FROM ledger_entry WHERE kind = 'approval' "
        "ORDER BY seq DESC LIMIT 1",
    )
    [(trigger,)] = run_sql(
        lab, "SELECT sql FROM sqlite_master WHERE name = 'ledger_entry_never_changes'"
    )
    edit = "UPDATE ledger_entry SET actor_name = ? WHERE seq = ?"
    run_sql(lab, "DROP TRIGGER ledger_entry_never_changes")
    run_sql(lab, edit, "abel", seq)
    yield int(seq)
    run_sql(lab, edit, name, seq)
    run_sql(lab, trigger)


def post_approval(page: Page) -> int:
    """What the page does not offer, sent all the same."""
    token = next(c["value"] for c in page.context.cookies() if c["name"] == "csrftoken")
    answer = page.request.post(
        f"{page.url}decide/",
        form={"kind": "approve", "csrfmiddlewaretoken": token, "digest": "x", "slot_version": "0"},
        headers={"Referer": page.url},
    )
    return answer.status


def test_abel_asks_another_approves_and_it_is_rolled_back(
    page: Page, chromium: Browser, lab: Lab
) -> None:
    shell(lab, "promoted(*people('olive', 'abel'), 'old-route'); add_deployment('new-route')")
    sign_in(page, "abel")
    expect_sentence(page, "new-route", "left for agent route")
    page.get_by_role("link", name="Request promotion").click()
    expect(page.get_by_role("button", name="Request promotion")).to_be_disabled()
    shell(lab, "rehearse(Deployment.objects.get(slug='new-route'))")
    page.reload()
    expect(page.get_by_text("Only a rehearsal")).to_be_visible()
    expect(page.get_by_role("button", name="Request promotion")).to_be_disabled()
    shell(lab, "prove(Deployment.objects.get(slug='new-route'))")
    ask_for(page, "new-route")
    expect(page.get_by_text("somebody else decides it")).to_be_visible()
    assert post_approval(page) == 403

    other = chromium.new_context(viewport={"width": 390, "height": 844}, base_url=lab.url)
    phone = other.new_page()
    sign_in(phone, "admin")
    phone.goto("/promotions/")
    expect(phone.get_by_text("wait", exact=False).first).to_be_visible()
    phone.goto(page.url)
    phone.get_by_role("button", name="Approve").click()
    expect(phone.get_by_role("heading", name=re.compile("Approved: new-route"))).to_be_visible()

    expect_sentence(page, "new-route", "Primary: agent route.")
    expect_sentence(page, "old-route", "Not primary yet: new-route took its place")
    phone.get_by_role("button", name="Roll back").click()
    expect(phone.get_by_role("heading", name=re.compile("Rolled back"))).to_be_visible()
    expect_sentence(page, "old-route", "Primary: agent route.")
    expect_sentence(page, "new-route", "Not primary yet: Rolled back")
    other.close()

    assert lab.manage("verify_ledger").returncode == 0
    with another_approver(lab) as entry:
        found = lab.manage("verify_ledger")
        assert found.returncode == 1
        assert f"entry {entry} was changed" in found.stderr.lower()
        page.goto("/promotions/")
        expect(page.get_by_role("alert")).to_contain_text("The ledger is broken")
    assert lab.manage("verify_ledger").returncode == 0
