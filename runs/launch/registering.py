"""A launched server becomes a revision of its deployment, as it describes itself.

Beside the active revision, never in its place: a trial does not change what is in use.
"""

from __future__ import annotations

from dataclasses import asdict, replace

from django.core.exceptions import ValidationError
from django.db import transaction

from catalog.discovery import Found
from catalog.models import Deployment, Endpoint, Layer, Origin, Revision
from catalog.runtimes import ensure_build
from catalog.services import Configuration
from runs.launch.arguments import Parameters, fill
from runs.launch.models import LaunchProfile
from runs.launch.readiness import LaunchFailed
from runs.launch.services import used_places
from runs.memory.budget import PROCESS_GIB

MIB_PER_GIB = 1024


@transaction.atomic
def register_launched(
    profile: LaunchProfile, parameters: Parameters, deployment: Deployment, found: Found
) -> tuple[Revision, Endpoint]:
    """The revision and address of this server. Raises LaunchFailed when it is not what was
    asked for."""
    see_that_it_is(parameters, deployment, found)
    configuration = configuration_of(profile, parameters, found)
    try:
        revision = keep_revision(deployment, configuration)
    except ValidationError as error:
        raise LaunchFailed("init_failed", " ".join(error.messages)) from error
    return revision, keep_endpoint(deployment, found)


def see_that_it_is(parameters: Parameters, deployment: Deployment, found: Found) -> None:
    """Raises LaunchFailed for another model, other slots, or less context than asked for."""
    expected, loaded = deployment.artifact.file_name, found.file_name
    if expected and loaded and expected != loaded:
        raise LaunchFailed(
            "identity_mismatch", f"The server has loaded {loaded}, and {expected} was expected."
        )
    facts = found.discovery.facts
    asked, got = parameters.context_per_slot, facts.context_per_slot
    if facts.parallel and facts.parallel != parameters.parallel:
        raise LaunchFailed(
            "init_failed",
            f"{parameters.parallel} slots were asked for, and the server runs {facts.parallel}. "
            "Figures would be told of the wrong configuration.",
        )
    if asked and got and got < asked:
        raise LaunchFailed(
            "init_failed",
            f"{parameters.parallel} slots x {asked:,} tokens = {parameters.context_total:,} were "
            f"asked for, and the server gives a slot {got:,}: the model or its memory allows "
            "no more.",
        )


def configuration_of(
    profile: LaunchProfile, parameters: Parameters, found: Found
) -> Configuration:
    """As discovered; what no server tells is taken from the arguments that were passed."""
    passed = set(used_places(profile))
    return replace(
        found.configuration(),
        kv_type=parameters.kv_type if "kv_type" in passed else "",
        prompt_cache_mib=parameters.prompt_cache_mib if "prompt_cache_mib" in passed else None,
        checkpoints=parameters.checkpoints if "checkpoints" in passed else None,
        guards=guards_of(profile),
        extra={"launch_profile": profile.key, "arguments": shown_arguments(profile, parameters)},
    )


def guards_of(profile: LaunchProfile) -> dict[str, float]:
    if profile.memory_budget_mib is None:
        return {}
    return {PROCESS_GIB: round(profile.memory_budget_mib / MIB_PER_GIB, 3)}


def shown_arguments(profile: LaunchProfile, parameters: Parameters) -> list[str]:
    """As passed, but for the port, which differs each time, and the path, which is private."""
    hidden = {"port": "{port}", "model_path": "{model_path}"}
    return fill(profile.templates, {**parameters.values(), **hidden})


def keep_revision(deployment: Deployment, configuration: Configuration) -> Revision:
    """The revision with this configuration, made when there is none; never the active one's
    successor. Raises ValidationError when the configuration contradicts itself."""
    frozen = asdict(configuration)
    build = ensure_build(deployment.runtime, frozen.pop("runtime_version"))
    Deployment.objects.select_for_update().get(pk=deployment.pk)
    latest = deployment.revisions.order_by("-number").first()
    revision = Revision(
        deployment=deployment,
        number=latest.number + 1 if latest else 1,
        runtime_build=build,
        origin=Origin.SERVER,
        is_active=False,
        **frozen,
    )
    fingerprint = revision.compute_fingerprint()
    if known := deployment.revisions.filter(fingerprint=fingerprint).first():
        return known
    revision.full_clean(exclude=["fingerprint"], validate_constraints=False)
    revision.save()
    return revision


def keep_endpoint(deployment: Deployment, found: Found) -> Endpoint:
    """Where the launched server answers; inactive, since it is gone after the trial."""
    facts = replace(found.endpoint(), layer=Layer.DIRECT)
    usual = deployment.endpoints.filter(layer=Layer.DIRECT, is_active=True).first()
    names = [*found.discovery.facts.names, *found.discovery.facts.models]
    if usual and usual.served_model in names:
        facts = replace(facts, served_model=usual.served_model)
    return Endpoint.objects.create(deployment=deployment, is_active=False, **asdict(facts))
