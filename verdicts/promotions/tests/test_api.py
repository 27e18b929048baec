"""A promotion through the REST API: the same rules as in the browser."""

from __future__ import annotations

from typing import Any

from django.test import Client

from people.models import User
from people.scopes import Scope
from people.tokens import make_token
from verdicts.promotions.tests.lab import promoted, prove, proven, state_of


def program(person: User, *scopes: Scope) -> Client:
    text = make_token(actor=person, name="program", scopes=scopes, days=1)[1]
    return Client(headers={"Authorization": f"Bearer {text}"})


def post(client: Client, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    answer = client.post(f"/api/v1/{path}", body or {}, content_type="application/json")
    return answer.status_code, answer.json()


def test_two_programs_promote_and_roll_back(olive: User, abel: User) -> None:
    good = proven("good")
    asking, deciding = program(olive, Scope.DECIDE), program(abel, Scope.DECIDE)
    status, made = post(
        asking, "promotions/", {"deployment": "good", "role": "agent_route", "reason": "better"}
    )
    assert (status, made["state"]) == (201, "open")
    address = f"promotions/{made['id']}"
    seen = deciding.get(f"/api/v1/{address}/review/").json()
    assert (seen["approvals_given"], seen["approvals_needed"]) == (0, 1)
    approval = {"kind": "approve"} | {key: seen[key] for key in ("digest", "slot_version")}
    prove(good)
    status, told = post(deciding, f"{address}/decide/", approval)
    assert status == 409 and "changed since you read it" in told["detail"]
    seen = deciding.get(f"/api/v1/{address}/review/").json()
    approval |= {"digest": seen["digest"]}
    assert post(asking, f"{address}/decide/", approval)[0] == 403
    status, decided = post(deciding, f"{address}/decide/", approval)
    assert (status, decided["state"]) == (200, "approved")
    assert state_of(good) == "primary"
    status, back = post(deciding, f"{address}/rollback/", {"comment": "timeouts"})
    assert (status, back["state"]) == (200, "rolled_back")


def test_a_token_without_the_scope_decides_nothing(olive: User, abel: User) -> None:
    request = promoted(olive, abel, "good")
    status, told = post(program(abel, Scope.RUN), f"promotions/{request.pk}/rollback/")
    assert status == 403 and "scope decide" in told["detail"]


def test_a_block_through_the_api_says_what_would_end_it(abel: User) -> None:
    good = proven("good")
    block = {"deployment": "good", "change": "block", "reason": "404"}
    client = program(abel, Scope.DECIDE)
    status, told = post(client, "verdicts/", block)
    assert status == 422 and "unblocks_when" in told["errors"]
    status, verdict = post(client, "verdicts/", {**block, "unblocks_when": "artifact found"})
    assert (status, verdict["state"]) == (201, "blocked")
    listed = client.get("/api/v1/verdicts/?deployment__slug=good").json()["results"]
    assert [row["id"] for row in listed] == [verdict["id"]]
    assert state_of(good) == "blocked"
