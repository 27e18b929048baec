"""What must hold before anything can become primary (design rules 3, 4 and 7)."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.models import Alias, Deployment
from runs.engine.identity import VERIFIED
from verdicts.models import VerdictState
from verdicts.policies.roles import role_named, roles_for
from verdicts.promotions.evaluating import Standing
from verdicts.promotions.refusals import PromotionRefused
from verdicts.selectors import proof_level


def refuse_unless_promotable(standing: Standing, route: str) -> None:
    """Raises PromotionRefused with everything that is in the way, gates last."""
    obstacles = [*obstacles_of(standing, route), *missing_words(standing)]
    if obstacles:
        raise PromotionRefused(" ".join(obstacles))


def missing_words(standing: Standing) -> list[str]:
    """One sentence naming the gates that are not met; none when all are."""
    missing = standing.missing
    if not missing:
        return []
    named = ", ".join(f"{gate.title} ({gate.state})" for gate in missing)
    return [f"{len(missing)} of {len(standing.counting)} gates are not met: {named}."]


def obstacles_of(standing: Standing, route: str) -> Iterator[str]:
    """What no evidence can make good: the wrong name, the wrong kind, a verdict against it."""
    deployment, role = standing.deployment, standing.role
    if deployment.is_archived:
        yield "It is archived."
    if role not in roles_for(deployment.artifact):
        task = deployment.artifact.get_task_display()
        yield f"A model for {task} cannot be {role.label}."
    yield from naming_obstacles(deployment, route)
    yield from verdict_obstacles(standing)


def naming_obstacles(deployment: Deployment, route: str) -> Iterator[str]:
    """Only a canonical name with a verified identity behind it can be promoted."""
    alias = Alias.objects.exclude(kind=Alias.Kind.CANONICAL).filter(name=route).first()
    if not route:
        yield "It has no canonical route: register the name that clients send."
    elif alias:
        yield (
            f"{route} is a {alias.get_kind_display()} alias: an alias cannot be promoted, only "
            "a canonical route."
        )
    elif route != deployment.canonical_route:
        known = deployment.canonical_route or "not recorded"
        yield f"Its canonical route is {known}, so clients cannot be sent to {route}."
    proof = proof_level(deployment)
    if proof is None or not proof["run"].revision.is_active:
        yield "The identity of its active revision was never probed: run Smoke."
    elif proof["status"] != VERIFIED:
        yield f"Its identity is not verified: {proof['sentence']}"


def verdict_obstacles(standing: Standing) -> Iterator[str]:
    """A verdict against it must be taken back first; a primary keeps to one role."""
    verdict = standing.deployment.verdicts.order_by("-decided_at", "-pk").first()
    if verdict is None:
        return
    if verdict.state in (VerdictState.BLOCKED, VerdictState.REJECTED):
        yield f"It is {verdict.state}: reopen it first, with a reason."
    elif verdict.state == VerdictState.PRIMARY and role_named(verdict.role) != standing.role:
        yield f"It is primary for {verdict.role} already, and a deployment serves one role."
    elif verdict.state == VerdictState.PRIMARY and verdict.revision == standing.revision:
        yield "It is primary for this role, at this revision, already."
