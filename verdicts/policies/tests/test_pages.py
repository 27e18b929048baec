"""Policies and gates in the browser: reading, editing, previewing, waiving."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from people.models import User
from verdicts.ledger.models import Entry
from verdicts.policies.models import PolicyVersion, Role, Waiver
from verdicts.policies.services import ensure_shipped_policies
from verdicts.policies.tests.making import meet_gates
from verdicts.promotions.tests.lab import add_deployment

pytestmark = pytest.mark.django_db
EDIT = "/policies/agent_route/edit/"


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def typed_into(html: str) -> dict[str, Any]:
    """What the form on the page would send as it stands."""
    form = html[html.index('<form method="post" class="stack">') :]
    found: dict[str, Any] = {}
    for tag in re.findall(r"<input [^>]*>", form):
        name, value = re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)
        is_box = 'type="checkbox"' in tag
        if name and (not is_box or "checked" in tag):
            found[name[1]] = "on" if is_box else value[1] if value else ""
    for name, options in re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', form, re.S):
        chosen = re.search(r'value="([^"]*)" selected', options)
        found[name] = chosen[1] if chosen else ""
    return found


def test_everybody_reads_what_a_role_asks_for(client: Client, vera: User) -> None:
    client.force_login(vera)
    assert "As shipped" in page(client, "/policies/agent_route/")
    html = page(client, "/policies/agent_route/")
    assert "Long context, fresh, 131,072 tokens, direct layer, within 30 days" in html
    assert "A soak that passed, never a rehearsal" in html
    assert client.get(EDIT).status_code == 403
    assert client.get("/policies/king/").status_code == 404


def test_an_admin_previews_and_stores_a_version_and_its_change_is_told(
    client: Client, ada: User
) -> None:
    ensure_shipped_policies()
    meet_gates(add_deployment("proven"))
    client.force_login(ada)
    typed = typed_into(page(client, EDIT))
    typed["gate-1-ttft_max_ms"] = "50"
    typed["note"] = "Agents wait."
    preview = client.post(EDIT, {**typed, "do": "preview"}).content.decode()
    assert "Stream completes: pass → fail" in preview
    assert "yes → no" in preview
    assert PolicyVersion.objects.filter(role=Role.AGENT_ROUTE).count() == 1
    client.post(EDIT, {**typed, "do": "store"})
    version = PolicyVersion.objects.get(role=Role.AGENT_ROUTE, is_current=True)
    assert (version.number, version.gate_list[1].ttft_max_ms) == (2, 50.0)
    assert len(version.gate_list) == 20
    assert "TTFT at most 50 ms" in page(client, "/policies/agent_route/")
    assert Entry.objects.filter(kind="policy", actor_name="ada").count() == 1
    assert client.post(EDIT, {**typed, "do": "store"}).status_code == 409, "edited meanwhile"


def test_bad_input_is_told_and_loses_nothing(client: Client, ada: User) -> None:
    client.force_login(ada)
    typed = typed_into(page(client, EDIT)) | {"note": "x", "gate-1-clients": "many", "do": "store"}
    answer = client.post(EDIT, typed)
    assert answer.status_code == 400
    assert "A number from 1 to 1,024, or slots." in answer.content.decode()
    assert "many" in answer.content.decode()
    assert not PolicyVersion.objects.exists()


def test_the_gates_of_a_deployment_say_what_is_missing_and_where_it_is_begun(
    client: Client, olive: User
) -> None:
    deployment = add_deployment("bare")
    client.force_login(olive)
    html = page(client, "/deployments/bare/gates/")
    assert "0 of 19 met" in html
    assert "/runs/start/?deployment=bare&amp;suite=long-context&amp;layer=direct" in html
    meet_gates(deployment)
    html = page(client, "/deployments/bare/gates/?role=agent_route")
    assert "19 of 19 met" in html
    assert re.search(r'<a href="/runs/\d+/">Run \d+</a>', html)
    assert "0 of" not in page(client, "/deployments/bare/gates/?role=tool_coding")


def test_a_waiver_needs_an_approver_a_reason_and_a_policy_that_allows_it(
    client: Client, olive: User, abel: User
) -> None:
    add_deployment("bare")
    address = "/deployments/bare/gates/agent_route/waive/"
    client.force_login(olive)
    asked = {"gate_key": "json", "reason": "No client uses JSON.", "days": "14"}
    assert client.post(address, asked).status_code == 403
    client.force_login(abel)
    refused = client.post(address, {**asked, "gate_key": "soak"}, follow=True).content.decode()
    assert "Soak of 7 days cannot be waived" in refused
    html = client.post(address, asked, follow=True).content.decode()
    assert "Waived by abel until" in html
    waiver = Waiver.objects.get()
    client.post(f"/policies/waivers/{waiver.pk}/withdraw/")
    html = page(client, "/deployments/bare/gates/")
    assert "Waived by abel" not in html
    assert "Withdrawn by abel" in html
    kinds = list(Entry.objects.order_by("seq").values_list("kind", flat=True))
    assert kinds == ["waiver", "waiver"]
