"""From a deployment's active revision, an endpoint and a suite to the engine's plan."""

from __future__ import annotations

import secrets

from catalog.models import Alias, Deployment, Endpoint, Layer, Revision
from runs.engine.plan import CheckSpec, Plan, Target
from runs.memory.budget import limits_for
from runs.models import Suite


class RunRefused(ValueError):
    """A run cannot be started; the message says why and what to do."""


def active_revision(deployment: Deployment) -> Revision:
    """Raises RunRefused when the deployment has none."""
    revision = deployment.revisions.filter(is_active=True).first()
    if revision is None:
        raise RunRefused(
            f"{deployment} has no active revision, so a result would belong to nothing. "
            "Record its configuration first."
        )
    return revision


def active_endpoint(deployment: Deployment, layer: str) -> Endpoint:
    """Raises RunRefused when the deployment has none at this layer."""
    endpoint = deployment.endpoints.filter(layer=layer, is_active=True).first()
    if endpoint is None:
        raise RunRefused(
            f"{deployment} has no {layer} endpoint, so there is no address to send to. "
            "An admin can add one on the deployment's page."
        )
    return endpoint


def current_suite(key: str) -> Suite:
    """Raises RunRefused when there is none."""
    suite = Suite.objects.filter(key=key, is_current=True).first()
    if suite is None:
        known = Suite.objects.filter(is_current=True).values_list("key", flat=True)
        raise RunRefused(f"There is no suite {key}. There are: {', '.join(known)}.")
    return suite


def build_plan(
    *,
    deployment: Deployment,
    revision: Revision,
    endpoint: Endpoint,
    suite: Suite,
    guards: dict[str, float] | None = None,
) -> Plan:
    """Everything that decides what is sent. The seed is new each time: fresh means fresh."""
    artifact = deployment.artifact
    aliases = Alias.objects.filter(artifact=artifact).values_list("name", flat=True)
    server = server_behind(deployment, endpoint)
    target = Target(
        base_url=endpoint.base_url,
        model=endpoint.served_model,
        runtime=deployment.runtime.key,
        layer=endpoint.layer,
        api_key_env=endpoint.api_key_env,
        expected_file=artifact.file_name,
        expected_digest=revision.artifact_digest or artifact.digest_sha256,
        expected_names=tuple(dict.fromkeys([deployment.canonical_route, *aliases])),
        context_per_slot=revision.context_per_slot,
        server_url=server.base_url if server else "",
        server_model=server.served_model if server else "",
        server_key_env=server.api_key_env if server else "",
    )
    return Plan(
        suite=suite.key,
        suite_version=suite.version,
        checks=tuple(CheckSpec(check["key"], check.get("params", {})) for check in suite.checks),
        target=target,
        guards=limits_for(revision, deployment.host, **(guards or {})),
        seed=secrets.randbelow(2**31),
    )


def server_behind(deployment: Deployment, endpoint: Endpoint) -> Endpoint | None:
    """The server's own address, where this endpoint is a gateway or proxy before it."""
    if endpoint.layer not in (Layer.GATEWAY, Layer.PROXY):
        return None
    return deployment.endpoints.filter(layer=Layer.DIRECT, is_active=True).first()
