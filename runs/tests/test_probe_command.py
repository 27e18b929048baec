"""`manage.py probe`: what it prints, and its exit codes for scripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from catalog.models import Artifact, Deployment, Host, Runtime
from runs.probing import AddressProbe, address_plan, find_deployment, flat
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]


def probe(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "probe", *arguments],
        cwd=ROOT,
        env={**os.environ, "CLEANPASS_VAR": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def an_address(**changes: Any) -> AddressProbe:
    given: dict[str, Any] = {
        "base_url": "http://127.0.0.1:8080/v1/",
        "model": "m",
        "runtime": "",
        "layer": "direct",
        "api_key_env": "",
        "checks": ("marker",),
    }
    return AddressProbe(**{**given, **changes})


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("some-deployment", "--url", "http://127.0.0.1:1/v1"),
        ("--url", "http://127.0.0.1:1/v1", "--check", "divination"),
        ("--url", "ftp://127.0.0.1/", "--model", "m"),
        ("--no-such-option",),
    ],
)
def test_it_ends_with_64_on_wrong_usage(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ended = probe(tmp_path, *arguments)
    assert ended.returncode == 64
    assert ended.stderr.strip()
    assert "Traceback" not in ended.stderr


def test_it_ends_with_1_and_says_why_where_nobody_answers(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}/v1"
    ended = probe(tmp_path, "--url", address, "--model", "m", "--json")
    assert ended.returncode == 1
    report = json.loads(ended.stdout)
    assert report["outcome"] == "fail"
    assert report["failure_class"] == "connect_failed"
    assert report["explanation"]


@pytest.mark.real_server
def test_it_ends_with_0_on_a_clean_pass_and_gives_every_time(
    tmp_path: Path, demo_server: str
) -> None:
    arguments = ("--url", demo_server, "--model", "smollm2-135m", "--check", "marker")
    ended = probe(tmp_path, *arguments, "--json")
    assert ended.returncode == 0, ended.stdout
    (request,) = json.loads(ended.stdout)["requests"]
    order = ("headers_ms", "first_byte_ms", "first_event_ms", "ttft_ms", "last_token_ms", "end_ms")
    times = [request[name] for name in order]
    assert times == sorted(times)
    assert request["connect_ms"] >= 0
    assert request["prompt_tokens"] > 0
    assert request["tokens_origin"] == "usage"


def test_it_changes_only_the_clocks_that_were_given() -> None:
    plan = address_plan(an_address(deadlines={"idle_s": 3.0}))
    assert plan.deadlines.idle_s == 3.0
    assert plan.deadlines.total_s == address_plan(an_address()).deadlines.total_s
    assert plan.target.base_url == "http://127.0.0.1:8080/v1"


def test_it_names_the_layers_that_there_are() -> None:
    with pytest.raises(ValueError, match="gateway"):
        address_plan(an_address(layer="basement"))


def test_it_puts_times_and_counts_on_the_first_level() -> None:
    record = {
        "index": 0,
        "timeline": {"ttft_ms": 12.5},
        "tokens": {"prompt": 7, "origin": "usage"},
    }
    assert flat(record) == {
        "index": 0,
        "ttft_ms": 12.5,
        "prompt_tokens": 7,
        "tokens_origin": "usage",
    }


@pytest.mark.django_db
def test_it_finds_a_deployment_by_slug_or_by_a_route_that_is_unique() -> None:
    host = Host.objects.create(key="here", name="Here")
    artifact = Artifact.objects.create(name="Small")
    runtime = Runtime.objects.create(key="some-runtime", name="Some")
    for slug, route in (("one", "small"), ("two", "large"), ("three", "large")):
        Deployment.objects.create(
            slug=slug, canonical_route=route, artifact=artifact, runtime=runtime, host=host
        )
    assert find_deployment("one").slug == "one"
    assert find_deployment("small").slug == "one"
    with pytest.raises(ValueError, match="Several"):
        find_deployment("large")
    with pytest.raises(ValueError, match="No deployment"):
        find_deployment("four")
