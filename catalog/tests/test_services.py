from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from catalog.models import Alias, Artifact, Deployment, Host, Origin
from catalog.services import (
    ArtifactFacts,
    Configuration,
    EndpointFacts,
    add_endpoint,
    add_revision,
    change_configuration,
    register_deployment,
)
from people.models import User

pytestmark = pytest.mark.django_db

CONFIGURATION = Configuration(
    runtime_version="b1", parallel=4, context_total=32768, context_per_slot=8192, kv_type="F16"
)
ENDPOINT = EndpointFacts(base_url="http://mac:8080/v1", served_model="heretic")


@pytest.fixture
def host() -> Host:
    return Host.objects.create(key="mac", name="Mac")


def register(actor: User, host: Host, **changes: Any) -> Deployment:
    facts: dict[str, Any] = {
        "actor": actor,
        "route": "heretic.27b/v2",
        "runtime_key": "llama.cpp",
        "host": host,
        "artifact": ArtifactFacts(name="Heretic 27B", format="GGUF", quantization="Q4_K_M"),
        "configuration": CONFIGURATION,
    }
    return register_deployment(**{**facts, **changes})


def test_an_operator_registers_a_deployment_with_its_first_revision(
    olive: User, host: Host
) -> None:
    deployment = register(olive, host)
    assert deployment.slug == "heretic-27b-v2-llama-cpp"
    assert deployment.origin == Origin.MANUAL
    revision = deployment.revisions.get()
    assert (revision.number, revision.is_active, revision.parallel) == (1, True, 4)
    assert revision.runtime_build.version == "b1"
    assert Alias.objects.get(name="heretic.27b/v2").artifact == deployment.artifact


def test_viewers_and_approvers_register_nothing(vera: User, abel: User, host: Host) -> None:
    for actor in (vera, abel):
        with pytest.raises(PermissionDenied):
            register(actor, host)
    assert not Deployment.objects.exists()
    assert not Artifact.objects.exists()


def test_only_an_admin_makes_endpoints(olive: User, ada: User, host: Host) -> None:
    with pytest.raises(PermissionDenied):
        register(olive, host, endpoint=ENDPOINT)
    assert not Deployment.objects.exists()
    deployment = register(ada, host, endpoint=ENDPOINT)
    assert deployment.endpoints.get().served_model == "heretic"
    with pytest.raises(PermissionDenied):
        add_endpoint(actor=olive, deployment=deployment, endpoint=ENDPOINT)


def test_the_same_deployment_is_registered_once(olive: User, host: Host) -> None:
    register(olive, host)
    with pytest.raises(ValidationError, match="registered on Mac already"):
        register(olive, host)
    assert Deployment.objects.count() == 1


def test_a_sibling_quantization_is_another_artifact_and_deployment(
    olive: User, host: Host
) -> None:
    first = register(olive, host)
    sibling = ArtifactFacts(name="Heretic 27B", format="GGUF", quantization="Q8_0")
    second = register(olive, host, artifact=sibling)
    assert first.artifact != second.artifact
    assert second.slug == "heretic-27b-v2-llama-cpp-2"


def test_no_deployment_takes_the_address_of_a_form(olive: User, host: Host) -> None:
    deployment = register(olive, host, route="", runtime_key="openai")
    assert deployment.slug == "openai"
    assert register(olive, host, route="---", runtime_key="vllm").slug == "vllm"


def test_a_total_that_contradicts_the_slots_is_refused_with_the_arithmetic(
    olive: User, host: Host
) -> None:
    wrong = replace(CONFIGURATION, context_total=40000)
    with pytest.raises(ValidationError, match="4 slots x 8,192 tokens = 32,768"):
        register(olive, host, configuration=wrong)
    assert not Deployment.objects.exists()


def test_a_change_makes_the_next_revision_and_retires_the_last(olive: User, host: Host) -> None:
    deployment = register(olive, host)
    added = add_revision(
        actor=olive, deployment=deployment, configuration=replace(CONFIGURATION, kv_type="Q8_0")
    )
    assert added.number == 2
    assert list(deployment.revisions.values_list("number", "is_active")) == [(2, True), (1, False)]
    assert len(set(deployment.revisions.values_list("fingerprint", flat=True))) == 2


def test_an_equal_configuration_makes_no_revision(olive: User, host: Host) -> None:
    deployment = register(olive, host)
    with pytest.raises(ValidationError, match="Nothing differs from revision 1"):
        add_revision(actor=olive, deployment=deployment, configuration=CONFIGURATION)
    assert deployment.revisions.count() == 1


def test_a_change_keeps_what_the_form_does_not_show(olive: User, host: Host) -> None:
    settings = replace(CONFIGURATION, admission={"proxy_admission": 4}, artifact_digest="ab" * 32)
    deployment = register(olive, host, configuration=settings)
    changed = change_configuration(actor=olive, deployment=deployment, changes={"kv_type": "Q8_0"})
    assert changed.kv_type == "Q8_0"
    assert changed.admission == {"proxy_admission": 4}
    assert changed.artifact_digest == "ab" * 32


def test_going_back_to_an_earlier_configuration_is_a_new_revision_with_its_fingerprint(
    olive: User, host: Host
) -> None:
    deployment = register(olive, host)
    change_configuration(actor=olive, deployment=deployment, changes={"kv_type": "Q8_0"})
    back = change_configuration(actor=olive, deployment=deployment, changes={"kv_type": "F16"})
    assert back.number == 3
    assert back.fingerprint == deployment.revisions.get(number=1).fingerprint


def test_an_endpoint_replaces_the_one_of_its_layer_only(ada: User, host: Host) -> None:
    deployment = register(ada, host, endpoint=ENDPOINT)
    gateway = replace(ENDPOINT, layer="gateway", base_url="http://gate:4000/v1")
    add_endpoint(actor=ada, deployment=deployment, endpoint=gateway)
    moved = replace(ENDPOINT, base_url="http://mac:9090/v1")
    add_endpoint(actor=ada, deployment=deployment, endpoint=moved)
    active = deployment.endpoints.filter(is_active=True).order_by("layer")
    assert list(active.values_list("layer", "base_url")) == [
        ("direct", "http://mac:9090/v1"),
        ("gateway", "http://gate:4000/v1"),
    ]
    assert deployment.endpoints.count() == 3


def test_an_endpoint_gives_a_route_to_a_deployment_without_one(ada: User, host: Host) -> None:
    deployment = register(ada, host)
    Deployment.objects.update(canonical_route="")
    deployment.refresh_from_db()
    add_endpoint(actor=ada, deployment=deployment, endpoint=ENDPOINT)
    assert deployment.canonical_route == "heretic"


@pytest.mark.parametrize(
    "changes",
    [
        {"base_url": "ftp://mac/v1"},
        {"base_url": "http://user:secret@mac/v1"},
        {"base_url": "http://mac/v1?key=secret"},
        {"base_url": "http://mac:99999/v1"},
        {"api_key_env": "sk-12345"},
        {"layer": "moon"},
    ],
)
def test_an_unusable_endpoint_is_refused(ada: User, host: Host, changes: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        register(ada, host, endpoint=replace(ENDPOINT, **changes))
    assert not Deployment.objects.exists()


def test_a_stored_revision_cannot_be_edited(olive: User, host: Host) -> None:
    revision = register(olive, host).revisions.get()
    revision.parallel = 8
    with pytest.raises(ValidationError, match="make a new one"):
        revision.save()
