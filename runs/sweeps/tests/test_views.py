"""The pages: a plan before anything happens, nothing typed is lost, and a picture that fills."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import Deployment
from people.models import User
from runs.launch.models import LaunchProfile
from runs.sweeps.models import CellState, Sweep, SweepState
from runs.sweeps.tests.conftest import Make

pytestmark = pytest.mark.django_db

FIGURES = {
    "ttft_ms": {"n": 2, "mean": 812.0, "p50": 812.0, "p95": 900.0, "max": 900.0},
    "end_ms": None, "completed": 2, "asked": 2, "aggregate_tps": 25.0, "per_request_tps": None,
    "requests_per_s": 1.0, "errors": {}, "peak_rss_bytes": 2**30, "retained_bytes": None,
    "prompt_tokens": 300, "concurrency_achieved": 2, "client_limited": False, "origins": {},
}  # fmt: skip


@pytest.fixture
def operator(client: Client, olive: User) -> Client:
    client.force_login(olive)
    return client


@pytest.fixture
def typed(deployment: Deployment, demo_profile: LaunchProfile) -> dict[str, Any]:
    return {
        "deployment": deployment.slug, "profile": demo_profile.key, "layer": "direct",
        "runtime_parallel": "1, 2", "client_concurrency": "1, 2", "prompt_tokens": "300, 8K",
        "caches": ["fresh", "repeat"], "repeats": 1, "warm_up": 1, "context_per_slot": 1024,
        "context_totals": "", "kv_type": "f16", "seed": 7, "cell_timeout_s": 60,
        "max_failures": 3, "note": "why <not>",
    }  # fmt: skip


def test_the_plan_shows_sums_order_and_what_is_skipped_and_starts_nothing(
    operator: Client, typed: dict[str, Any]
) -> None:
    page = operator.post(reverse("sweep-new"), {**typed, "do": "plan"})
    text = page.content.decode()
    assert page.status_code == 200
    assert "2 slots × 1,024 tokens = 2,048" in text
    assert "8 of them skipped" in text
    assert "A prompt of 8,192 tokens and an answer of up to 96 do not fit into a slot" in text
    assert "why &lt;not&gt;" in text
    assert not Sweep.objects.exists()


def test_starting_makes_the_sweep_as_typed(
    operator: Client, typed: dict[str, Any], rung: list[int]
) -> None:
    page = operator.post(reverse("sweep-new"), {**typed, "do": "start"})
    sweep = Sweep.objects.get()
    assert page["Location"] == reverse("sweep-detail", args=[sweep.pk])
    assert (sweep.seed, sweep.cell_timeout_s, sweep.max_failures) == (7, 60, 3)
    assert sweep.cells.count() == 16
    assert sweep.cells.filter(state=CellState.SKIPPED).count() == 8
    assert sweep.base["context_per_slot"] == 1024


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"context_totals": "1024, 999"},
            "2 slots × 1,024 tokens = 2,048, but the total says 999",
        ),
        ({"runtime_parallel": "1, x"}, "&#x27;x&#x27; is no whole number"),
        ({"profile": ""}, "Somebody else runs this server"),
        ({"model_path": "--rpc=evil"}, "begins with a dash"),
        ({"process_limit_gib": "-4"}, "A memory limit is out of its range."),
    ],
)
def test_what_is_refused_is_explained_and_nothing_typed_is_lost(
    operator: Client, typed: dict[str, Any], wrong: dict[str, str], said: str
) -> None:
    page = operator.post(reverse("sweep-new"), {**typed, **wrong, "do": "start"})
    text = page.content.decode()
    assert page.status_code == 422
    assert said in text
    for value in ("300, 8192" if "300, 8192" in text else "300, 8K", "why &lt;not&gt;", "1024"):
        assert value in text
    assert not Sweep.objects.exists()


def test_the_picture_fills_and_asks_again_only_while_something_moves(
    operator: Client, make_sweep: Make
) -> None:
    sweep = make_sweep(grid={"client_concurrency": (1, 2)})
    done = sweep.cells.get(client_concurrency=2)
    done.state, done.outcome, done.figures = CellState.DONE, "clean_pass", FIGURES
    done.save()
    live = reverse("sweep-live", args=[sweep.pk])
    text = operator.get(live).content.decode()
    assert f'hx-get="{live}?metric=ttft"' in text
    assert "812\u202fms" in text and "2 of 2" in text
    assert "25\u202ftok/s" in operator.get(f"{live}?metric=throughput").content.decode()
    Sweep.objects.update(state=SweepState.FINISHED)
    still = operator.get(live)
    assert still["HX-Refresh"] == "true"
    assert "hx-get" not in still.content.decode()
    assert "812.0" in operator.get(reverse("sweep-csv", args=[sweep.pk])).content.decode()


def test_a_viewer_sees_a_sweep_but_no_button_that_changes_it(
    client: Client, vera: User, make_sweep: Make
) -> None:
    sweep = make_sweep()
    client.force_login(vera)
    text = client.get(reverse("sweep-detail", args=[sweep.pk])).content.decode()
    assert "Pause" not in text and "Cancel" not in text
    assert client.post(reverse("sweep-pause", args=[sweep.pk])).status_code == 403
    assert client.get(reverse("sweep-list")).status_code == 200


def test_buttons_change_the_sweep_and_say_when_they_cannot(
    operator: Client, make_sweep: Make, rung: list[int]
) -> None:
    sweep = make_sweep()
    states = []
    for name in ("sweep-pause", "sweep-resume", "sweep-cancel"):
        operator.post(reverse(name, args=[sweep.pk]))
        sweep.refresh_from_db()
        states.append(sweep.state)
    assert states == [SweepState.PAUSED, SweepState.PLANNED, SweepState.CANCELLED]
    page = operator.post(reverse("sweep-pause", args=[sweep.pk]), follow=True)
    assert "does not run, so there is nothing to pause" in page.content.decode()
