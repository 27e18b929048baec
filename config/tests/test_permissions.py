"""Every role x every action x browser and API, from the one table of `people.access`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver
from django.urls.resolvers import URLResolver

from catalog.models import Deployment
from config.tests.examples import BODIES, EXAMPLES, KINDS, OWN, SAME_RULE, Example
from people.access import ALLOWED, Action, Role
from people.models import User
from people.scopes import Scope
from people.services import create_person
from people.tokens import make_token
from runs.campaigns.services import start_campaign
from runs.planning import current_suite
from runs.services import start_run
from runs.sweeps.grid import Grid
from runs.sweeps.services import start_sweep


def test_every_action_has_a_rule_and_an_example() -> None:
    assert set(ALLOWED) == set(Action)
    assert {example.action for example in EXAMPLES} == set(Action)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.action}-{e.name or 'api'}")
def test_a_role_may_exactly_what_the_table_says(
    role: Role, example: Example, ada: User, deployment: Deployment, rung: list[int]
) -> None:
    run = start_run(actor=ada, deployment=deployment, suite=current_suite("smoke"), layer="direct")
    sweep = start_sweep(actor=ada, deployment=deployment, grid=Grid())
    campaign = start_campaign(actor=ada, deployment=deployment, kind="soak")
    person, _ = create_person(name="somebody", roles=[role], password="a-long-enough-one")
    status = ask(example, person, {"run": run.pk, "sweep": sweep.pk, "campaign": campaign.pk})
    if role in ALLOWED[example.action]:
        assert status not in (401, 403, 404, 405) and status < 500
    else:
        assert status == 403


def ask(example: Example, person: User, made: dict[str, int]) -> int:
    """The status that this person gets."""
    address = example.address.format(**made)
    if example.name:
        client = Client()
        client.force_login(person)
        kind = "application/x-www-form-urlencoded"
        return client.generic(example.method.upper(), address, example.form, kind).status_code
    text = make_token(actor=person, name="all", scopes=list(Scope), days=1)[1]
    client = Client(headers={"Authorization": f"Bearer {text}"})
    body = BODIES.get(example.address, {})
    call = client.get if example.method == "get" else client.post
    kind = KINDS.get(example.address, "application/json")
    answer = call(f"/api/v1/{address}", body, content_type=kind)
    return int(answer.status_code)


def pages(resolver: Any) -> Iterator[URLPattern]:
    """Every page; the API's views are covered by its own examples."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            if entry.namespace != "api":
                yield from pages(entry)
        else:
            yield entry


def test_every_page_that_takes_a_post_has_a_rule(vera: User, deployment: Deployment) -> None:
    client = Client()
    client.force_login(vera)
    known = {example.name for example in EXAMPLES} | OWN | set(SAME_RULE)
    uncovered = [
        page.name
        for page in pages(get_resolver())
        if page.name not in known and takes_post(page, client)
    ]
    assert uncovered == []


def takes_post(page: URLPattern, client: Client) -> bool:
    """Whether a POST reaches the view at all; its arguments need name nothing that exists."""
    request = client.post("/search/").wsgi_request
    arguments = {name: 0 if name in ("pk", "index") else "x" for name in page.pattern.converters}
    try:
        return int(page.callback(request, **arguments).status_code) != 405
    except Exception:
        return True
