"""Claims are noted with their source and shown beside, never among, what was measured."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from catalog.claims import add_claim, claims_about
from catalog.models import Artifact, Claim, Deployment, Host, Runtime
from people.models import User

FORM = {
    "subject": "Toy 135M at speed",
    "source": "https://example.org/post/1",
    "hardware": "M1 Max 64 GB",
    "figures": "decode: 400 tok/s\nprefill: fast",
    "caveat": "one author",
}


@pytest.fixture
def deployment(db: None) -> Deployment:
    artifact = Artifact.objects.create(name="Toy 135M", family="Toy", size_label="135M")
    runtime = Runtime.objects.create(key="vllm", name="vLLM")
    host = Host.objects.create(key="mini", name="Mini")
    return Deployment.objects.create(slug="toy", artifact=artifact, runtime=runtime, host=host)


def test_a_noted_claim_is_beside_the_deployment_with_its_source_and_figures_nowhere_else(
    client: Client, olive: User, deployment: Deployment
) -> None:
    client.force_login(olive)
    assert client.post("/claims/new/", FORM | {"deployments": [deployment.pk]}).status_code == 302
    claim = Claim.objects.get()
    assert claim.figures == {"decode": "400 tok/s", "prefill": "fast"}
    assert claims_about(deployment) == [claim]
    assert deployment.figures.count() == 0
    for address in ("/claims/", "/deployments/toy/"):
        page = client.get(address).content.decode()
        assert FORM["source"] in page and FORM["hardware"] in page and "400 tok/s" in page
        assert "One author" in page


def test_a_claim_that_names_family_and_size_is_found_beside_what_it_names(
    olive: User, deployment: Deployment
) -> None:
    own = add_claim(actor=olive, subject="Toy 135M impressions", source="a forum")
    add_claim(actor=olive, subject="Toy 7B impressions", source="a forum")
    assert claims_about(deployment) == [own]


def test_a_viewer_notes_none_and_a_claim_without_source_or_colon_is_refused(
    client: Client, olive: User, vera: User
) -> None:
    with pytest.raises(PermissionDenied):
        add_claim(actor=vera, subject="x", source="y")
    with pytest.raises(ValidationError, match="where this was published"):
        add_claim(actor=olive, subject="x", source=" ")
    client.force_login(olive)
    page = client.post("/claims/new/", FORM | {"figures": "no colon"}).content.decode()
    assert "a name, a colon and a value" in page and not Claim.objects.exists()
