"""What may stand side by side, and what is refused with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from catalog.models import Deployment, Revision, Runtime
from people.models import User
from runs.compare.contract import Contract, common, differences, rounded_size
from runs.compare.models import Baseline
from runs.models import Run, RunRequest
from runs.sweeps.forms import SweepForm, first_values
from runs.tests.conftest import deployment as deployment
from runs.tests.conftest import host as host
from runs.tests.conftest import make_run as make_run
from runs.tests.conftest import suite as suite

CONTRACT = Contract("stream", 0, "fresh", True, 1, "direct", "Mac", "greedy", "client")
Make = Callable[..., Run]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cache": "repeat"}, "fresh against exact repeat: a cache hit is no prefill"),
        ({"layer": "proxy"}, "direct against proxy: another way in"),
        ({"size": 33000}, "prompts of 0 against 33,000 tokens"),
        ({"sampling": '{"temperature": 0.6}'}, "another sampling: greedy against"),
        ({"origin": "server"}, "client figures against server figures"),
        ({"host": "Linux"}, "another host: Mac against Linux"),
        ({"clients": 4}, "1 against 4 requests open at one moment"),
        ({"check": "tool"}, "stream against tool: another question"),
    ],
)
def test_another_contract_is_refused_with_its_reason(changes: dict[str, Any], reason: str) -> None:
    other = replace(CONTRACT, **changes)
    assert differences(CONTRACT, other)[0].startswith(reason)
    found = common([("a", [CONTRACT]), ("b", [other])])
    assert found.same == ()
    assert len(found.refused) == 2
    both = (*differences(CONTRACT, other), *differences(other, CONTRACT))
    assert found.refused[0].reasons[0] in both


def test_what_is_shared_is_compared_and_the_rest_split_off() -> None:
    through = replace(CONTRACT, layer="proxy")
    found = common([("a", [CONTRACT, through]), ("b", [CONTRACT])])
    assert found.same == (CONTRACT,)
    [refusal] = found.refused
    assert (refusal.contract, refusal.sides) == (through, ("a",))


def test_sizes_agree_in_two_digits() -> None:
    assert rounded_size(32_672) == rounded_size(32_768) == 33_000
    assert rounded_size(65_536) != rounded_size(32_768)
    assert rounded_size(200) == rounded_size(None) == 0


@pytest.fixture
def clean(make_run: Make) -> Callable[..., Run]:
    """A clean run with five fresh streams around a TTFT."""

    def make(ttft_ms: float, *, spread_ms: float = 1.0, cache: str = "fresh", **more: Any) -> Run:
        run = make_run(state="finished", outcome="clean_pass", finished_at=timezone.now(), **more)
        for index in range(5):
            RunRequest.objects.create(
                run=run, index=index, check_key="stream", label="stream", streamed=True,
                cache=cache, outcome="clean_pass", ttft_ms=ttft_ms + index * spread_ms,
                end_ms=ttft_ms * 2 + index * spread_ms, decode_tps=40.0, prompt_tokens=50,
                record={"server": {"predicted_per_second": 41.0}},
            )  # fmt: skip
        return run

    return make


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_real_difference_is_coloured_and_noise_is_not(
    client: Client, vera: User, clean: Callable[..., Run]
) -> None:
    client.force_login(vera)
    slow, quick, same = clean(200.0), clean(100.0), clean(201.0, spread_ms=2.0)
    html = page(client, f"/compare/?run={slow.pk}&run={quick.pk}")
    assert "-50." in html and "is-better" in html
    assert "server" in html, "server figures stand apart, with their origin"
    html = page(client, f"/compare/?run={slow.pk}&run={same.pk}")
    assert "is-better" not in html and "is-worse" not in html
    assert client.get(f"/compare/chart.csv?run={slow.pk}&run={quick.pk}").status_code == 200


def test_fresh_and_repeat_are_refused_in_the_browser_and_the_api(
    client: Client, vera: User, clean: Callable[..., Run]
) -> None:
    client.force_login(vera)
    fresh, repeat = clean(200.0), clean(10.0, cache="repeat")
    address = f"?run={fresh.pk}&run={repeat.pk}"
    html = page(client, f"/compare/{address}")
    assert "Not compared." in html
    assert "fresh against exact repeat: a cache hit is no prefill" in html
    told = client.get(f"/api/v1/comparisons/{address}").json()
    assert told["lines"] == [] and told["refused"]
    assert client.get("/api/v1/comparisons/?run=1").status_code == 400


def test_a_baseline_and_the_active_route_are_two_things(
    client: Client, olive: User, deployment: Deployment, clean: Callable[..., Run]
) -> None:
    client.force_login(olive)
    old, later = clean(200.0), clean(100.0)
    client.post(f"/compare/baseline/{old.pk}/")
    assert Baseline.objects.get().by_name == "olive"
    Revision.objects.filter(pk=old.revision_id).update(is_active=False)
    new = Revision.objects.create(
        deployment=deployment, number=2, runtime_build=old.revision.runtime_build, parallel=8
    )
    Run.objects.filter(pk=later.pk).update(revision=new)
    html = page(client, f"/compare/?deployment={deployment.slug}")
    assert html.index("historical baseline") < html.index("active route")
    client.post(f"/compare/baseline/{deployment.slug}/unpin/")
    assert not Baseline.objects.exists()


def test_a_run_that_failed_is_no_baseline(client: Client, olive: User, make_run: Make) -> None:
    client.force_login(olive)
    failed = make_run(state="finished", outcome="fail", finished_at=timezone.now())
    told = client.post(f"/compare/baseline/{failed.pk}/", follow=True).content.decode()
    assert "was no clean pass" in told
    assert not Baseline.objects.exists()


def test_one_runtimes_parallel_is_no_default_for_another(
    client: Client, ada: User, deployment: Deployment, clean: Callable[..., Run]
) -> None:
    """p4 was measured on llama.cpp; a deployment of another runtime is not offered it."""
    clean(100.0)
    client.force_login(ada)
    runtime = Runtime.objects.create(key="vllm", name="vLLM")
    other = Deployment.objects.create(
        slug="other", canonical_route="other", artifact=deployment.artifact, runtime=runtime,
        host=deployment.host,
    )  # fmt: skip
    for address in ("/deployments/new/", f"/deployments/{other.slug}/revisions/new/"):
        field = re.search(r'<input[^>]*name="parallel"[^>]*>', page(client, address))
        assert field and "value=" not in field[0], address
    assert SweepForm(other).fields["runtime_parallel"].initial is None
    assert first_values(other, 1)["runtime_parallel"] != (4,)
