"""Roles as verdicts name them: by our titles, or in the words of a report."""

from __future__ import annotations

from catalog.models import Artifact, Deployment, Task
from verdicts.models import Verdict
from verdicts.policies.models import Role

# What the field report called its roles.
AS_REPORTED = {
    "default agent route": Role.AGENT_ROUTE,
    "specialist / fallback (explicit selection only)": Role.SPECIALIST,
    "agent / tool": Role.TOOL_CODING,
    "coding / vision and tool assistant": Role.TOOL_CODING,
    "embedding pooling": Role.EMBEDDING_POOLING,
    "rerank pooling": Role.RERANK_POOLING,
}
FIT: dict[str, tuple[Role, ...]] = {
    Task.GENERATION: (Role.AGENT_ROUTE, Role.SPECIALIST, Role.TOOL_CODING),
    Task.EMBEDDING: (Role.EMBEDDING_POOLING,),
    Task.RERANK: (Role.RERANK_POOLING,),
}


def role_named(text: str) -> Role | None:
    """The role that a verdict's words mean; None for none of ours."""
    ours = {role.label: role for role in Role}
    return ours.get(text) or AS_REPORTED.get(text)


def words_for(role: Role) -> list[str]:
    """Every way a verdict may name the role."""
    return [role.label, *(text for text, known in AS_REPORTED.items() if known == role)]


def roles_for(artifact: Artifact) -> tuple[Role, ...]:
    """What a model of this kind can be asked to do."""
    return FIT[artifact.task]


def likely_role(deployment: Deployment) -> Role:
    """The role that its verdict names, else the first that fits."""
    return role_of(deployment, deployment.verdicts.order_by("-decided_at", "-pk").first())


def role_of(deployment: Deployment, verdict: Verdict | None) -> Role:
    """As `likely_role`, where the verdict that holds is known."""
    fitting = roles_for(deployment.artifact)
    named = role_named(verdict.role) if verdict else None
    return named if named in fitting else fitting[0]
