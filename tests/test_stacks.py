"""The main path on both stacks with real servers: start a probe, follow it, read its outcome."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.lab import Lab
from tests.servers import postgres, redis_server

pytestmark = pytest.mark.real_server


@contextlib.contextmanager
def stack(name: str, folder: Path) -> Iterator[dict[str, str]]:
    """The environment of one of the two stacks; its servers run meanwhile."""
    if name == "embedded":
        yield {}
        return
    with postgres() as database, redis_server(folder / "redis") as broker:
        yield {"DATABASE_URL": database, "REDIS_URL": broker}


def start_probe(client: httpx.Client, slug: str) -> int:
    """Press Start on the plan page; returns the run's number."""
    address = f"/runs/start/?deployment={slug}&suite=smoke"
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get(address).text)
    assert token
    answer = client.post(
        "/runs/start/",
        data={
            "csrfmiddlewaretoken": token[1],
            "deployment": slug,
            "suite": "smoke",
            "layer": "direct",
        },
        headers={"Referer": str(client.base_url)},
    )
    number = re.search(r"/runs/(\d+)/", str(answer.url))
    assert number, answer.text
    return int(number[1])


def follow(lab: Lab, client: httpx.Client, run: int, after: int = 0) -> list[dict[str, object]]:
    """Every event of the run from the WebSocket, until its last one."""
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    address = f"{lab.url.replace('http', 'ws')}/ws/runs/{run}/"
    seen: list[dict[str, object]] = []
    headers = {"Cookie": cookies}
    with connect(address, additional_headers=headers, origin=Origin(lab.url)) as socket:
        socket.send(json.dumps({"after": after}))
        while not any(event["kind"] == "run.finished" for event in seen):
            message = json.loads(socket.recv(timeout=120))
            seen.extend(message.get("events", []))
    return seen


@pytest.mark.parametrize(
    "name", ["embedded", pytest.param("distributed", marks=pytest.mark.stack)]
)
def test_it_probes_the_demo_server_from_start_to_outcome(name: str, tmp_path: Path) -> None:
    with stack(name, tmp_path) as environment:
        lab = Lab(tmp_path / "lab", env=environment)
        lab.start()
        try:
            client = lab.sign_in()
            slug = demo_slug(client)
            run = start_probe(client, slug)
            events = follow(lab, client, run)
            numbers = [event["seq"] for event in events]
            assert numbers == list(range(1, len(events) + 1)), "numbered without gaps"
            assert follow(lab, client, run, after=3) == events[3:], "replayed from any point"
            last = events[-1]["payload"]
            assert isinstance(last, dict)
            assert last["outcome"] == "clean_pass", last
            page = client.get(f"/runs/{run}/").text
            assert "Clean pass" in page
        finally:
            assert lab.stop() == 0, lab.output


def demo_slug(client: httpx.Client) -> str:
    """The deployment that `up` registered from the demo server."""
    page = client.get("/?q=smollm2").text
    found = re.search(r"/deployments/([a-z0-9-]*smollm2[a-z0-9-]*)/", page)
    assert found, page
    return found[1]
