"""Writing the catalog: deployments, their revisions and endpoints.

Evidence belongs to a revision, so nothing here edits one: a change makes the next.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from catalog.models import (
    Alias,
    Artifact,
    Deployment,
    Endpoint,
    Host,
    Layer,
    Origin,
    Revision,
    Runtime,
    Task,
)
from catalog.runtimes import ensure_build, ensure_runtime
from people.access import Action, require
from people.models import User

RESERVED_SLUGS = {"new", "discover"}  # addresses of forms


@dataclass(frozen=True, slots=True)
class ArtifactFacts:
    """One exact model file or folder, as far as it is known."""

    name: str
    format: str = ""
    quantization: str = ""
    task: str = Task.GENERATION
    family: str = ""
    size_label: str = ""
    tune: str = ""
    source: str = ""
    file_name: str = ""
    size_bytes: int | None = None
    digest_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a revision freezes. Contexts in tokens, the prompt cache in MiB."""

    runtime_version: str = ""
    parallel: int | None = None
    context_total: int | None = None
    context_per_slot: int | None = None
    kv_type: str = ""
    prompt_cache_mib: int | None = None
    checkpoints: int | None = None
    guards: dict[str, Any] = field(default_factory=dict)
    admission: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    artifact_digest: str = ""


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """Where one layer answers. `api_key_env` names an environment variable, never the key."""

    base_url: str
    served_model: str
    layer: str = Layer.DIRECT
    api_key_env: str = ""


@transaction.atomic
def register_deployment(
    *,
    actor: User,
    route: str,
    runtime_key: str,
    host: Host,
    artifact: ArtifactFacts,
    configuration: Configuration,
    endpoint: EndpointFacts | None = None,
    note: str = "",
) -> Deployment:
    """A new deployment with its first revision, and the endpoint if one is given.

    Raises PermissionDenied; ValidationError when there is such a deployment already or the
    configuration contradicts itself.
    """
    require(actor, Action.REGISTER_DEPLOYMENT)
    if endpoint:
        require(actor, Action.EDIT_ENDPOINT)
    runtime = ensure_runtime(runtime_key)
    found = ensure_artifact(artifact, origin=Origin.MANUAL)
    if find_deployment(route=route, artifact=found, runtime=runtime, host=host):
        raise ValidationError(
            f"{route} with this artifact and runtime is registered on {host} already. "
            "Add a revision there instead."
        )
    deployment = create_deployment(
        route=route, artifact=found, runtime=runtime, host=host, origin=Origin.MANUAL, note=note
    )
    activate_revision(deployment, configuration, origin=Origin.MANUAL)
    if endpoint:
        activate_endpoint(deployment, endpoint)
    return deployment


@transaction.atomic
def add_revision(*, actor: User, deployment: Deployment, configuration: Configuration) -> Revision:
    """The next revision, now the active one. Raises PermissionDenied, ValidationError."""
    require(actor, Action.REGISTER_DEPLOYMENT)
    active = deployment.revisions.filter(is_active=True).first()
    revision = activate_revision(deployment, configuration, origin=Origin.MANUAL)
    if active and active.pk == revision.pk:
        raise ValidationError(f"Nothing differs from revision {active.number}, the active one.")
    return revision


def configuration_of(revision: Revision) -> dict[str, Any]:
    """The revision's settings as fields of `Configuration`."""
    names = [entry.name for entry in fields(Configuration) if entry.name != "runtime_version"]
    settings = {name: getattr(revision, name) for name in names}
    return {**settings, "runtime_version": revision.runtime_build.version}


def change_configuration(
    *, actor: User, deployment: Deployment, changes: dict[str, Any]
) -> Revision:
    """`add_revision` with what the active revision has, but for `changes`."""
    active = deployment.revisions.filter(is_active=True).first()
    settings = configuration_of(active) if active else {}
    return add_revision(
        actor=actor,
        deployment=deployment,
        configuration=Configuration(**{**settings, **changes}),
    )


@transaction.atomic
def add_endpoint(
    *, actor: User, deployment: Deployment, endpoint: EndpointFacts, route: str = ""
) -> Endpoint:
    """Where a layer answers from now on; the one before is kept for its runs, inactive.

    `route` is taken as the canonical route where the deployment has none yet.
    Raises PermissionDenied, ValidationError.
    """
    require(actor, Action.EDIT_ENDPOINT)
    if not deployment.canonical_route:
        deployment.canonical_route = route or endpoint.served_model
        deployment.save(update_fields=["canonical_route"])
        name_route(deployment)
    return activate_endpoint(deployment, endpoint)


# --- parts, without permission of their own ----------------------------------------------------


def ensure_artifact(facts: ArtifactFacts, *, origin: str) -> Artifact:
    """The artifact with these exact facts; any difference in file or digest is a sibling."""
    identity = {
        name: getattr(facts, name)
        for name in ("name", "format", "quantization", "file_name", "digest_sha256")
    }
    known = Artifact.objects.filter(**identity).first()
    if known:
        return known
    artifact = Artifact(**asdict(facts), origin=origin)
    artifact.full_clean()
    artifact.save()
    return artifact


def find_deployment(
    *, route: str, artifact: Artifact, runtime: Runtime, host: Host
) -> Deployment | None:
    """The deployment of this artifact under this route, if registered."""
    return Deployment.objects.filter(
        canonical_route=route, artifact=artifact, runtime=runtime, host=host
    ).first()


def create_deployment(
    *, route: str, artifact: Artifact, runtime: Runtime, host: Host, origin: str, note: str = ""
) -> Deployment:
    """A deployment without revision or endpoint yet; its route becomes a canonical alias."""
    deployment = Deployment(
        slug=free_slug(f"{route} {runtime.key}"),
        canonical_route=route,
        artifact=artifact,
        runtime=runtime,
        host=host,
        origin=origin,
        note=note,
    )
    deployment.full_clean()
    deployment.save()
    name_route(deployment)
    return deployment


def name_route(deployment: Deployment) -> None:
    """Record the route as a canonical name of its artifact, unless the name is taken."""
    Alias.objects.get_or_create(
        name=deployment.canonical_route,
        defaults={
            "kind": Alias.Kind.CANONICAL,
            "artifact": deployment.artifact,
            "origin": deployment.origin,
        },
    )


def free_slug(text: str) -> str:
    """An address nobody uses yet."""
    base = slugify(text.replace(".", "-").replace("/", "-"))[:110] or "deployment"
    taken = RESERVED_SLUGS | set(
        Deployment.objects.filter(slug__startswith=base).values_list("slug", flat=True)
    )
    numbered = (base if n == 1 else f"{base}-{n}" for n in range(1, len(taken) + 3))
    return next(slug for slug in numbered if slug not in taken)


def activate_revision(
    deployment: Deployment, configuration: Configuration, *, origin: str
) -> Revision:
    """Make this configuration the active one; an equal active revision is returned as it is."""
    frozen = asdict(configuration)
    build = ensure_build(deployment.runtime, frozen.pop("runtime_version"))
    # Locking the deployment serialises two people adding at once.
    Deployment.objects.select_for_update().get(pk=deployment.pk)
    latest = deployment.revisions.order_by("-number").first()
    revision = Revision(
        deployment=deployment,
        number=latest.number + 1 if latest else 1,
        runtime_build=build,
        origin=origin,
        **frozen,
    )
    active = deployment.revisions.filter(is_active=True).first()
    if active and active.fingerprint == revision.compute_fingerprint():
        return active
    revision.full_clean(exclude=["fingerprint"], validate_constraints=False)
    deployment.revisions.filter(is_active=True).update(is_active=False)
    revision.save()
    return revision


def activate_endpoint(deployment: Deployment, facts: EndpointFacts) -> Endpoint:
    """Make this the endpoint of its layer; an equal active one is returned as it is."""
    active = deployment.endpoints.filter(layer=facts.layer, is_active=True)
    if same := active.filter(**asdict(facts)).first():
        return same
    endpoint = Endpoint(deployment=deployment, **asdict(facts))
    endpoint.full_clean(validate_constraints=False)
    active.update(is_active=False)
    endpoint.save()
    return endpoint
