"""Through a real nginx: one that passes streams on, one that holds them back, one whose server is
gone; and the same server asked as itself behind it."""

from __future__ import annotations

from pathlib import Path

from demo.fixtures import running_demo
from runs.engine.outcomes import Outcome
from runs.engine.plan import CheckSpec
from runs.engine.tests.obedient import Obedient, serving
from runs.engine.tests.running import run
from tests.nginx import nginx
from tests.servers import free_port

CHECKS = ("identity", "marker", "stream", CheckSpec("concurrency", {"clients": 4}))


def root_of(base_url: str) -> str:
    return base_url.removesuffix("/v1")


async def test_a_proxy_that_passes_streams_on_is_clean_and_the_server_is_identified(
    tmp_path: Path, demo_server: str
) -> None:
    with nginx(tmp_path, root_of(demo_server)) as proxy:
        report = await run(f"{proxy}/v1", *CHECKS, layer="proxy", server_url=demo_server)
    assert report.outcome is Outcome.CLEAN_PASS, report.explanation
    assert report.identity_after.status == "verified"
    assert report.identity_after.level == 5, "the process of the server, not of nginx"
    assert report.identity_after.sentence.startswith("Read at the server behind the proxy:")


async def test_a_proxy_that_holds_streams_back_is_named(tmp_path: Path, demo_server: str) -> None:
    with nginx(tmp_path, root_of(demo_server), buffers=True) as proxy:
        report = await run(f"{proxy}/v1", *CHECKS, layer="proxy", server_url=demo_server)
    assert (report.outcome, report.failure_class) == (Outcome.DEGRADED, "buffered_stream")
    streams = [request for request in report.requests if request.streamed]
    assert all(request.timeline.decode_tps is None for request in streams), "no rate of a burst"


async def test_a_server_that_is_gone_behind_a_proxy_is_a_clear_failure(tmp_path: Path) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    with nginx(tmp_path, gone) as proxy:
        report = await run(
            f"{proxy}/v1", "marker", "stream", model="m", runtime="llama.cpp", layer="proxy",
            server_url=f"{gone}/v1",
        )  # fmt: skip
    assert report.outcome is Outcome.FAIL
    assert {request.http_status for request in report.requests} == {502}
    assert report.failure_class in ("repeated_5xx", "http_5xx")


async def test_a_long_answer_that_the_proxy_cuts_short_is_its_time_limit(tmp_path: Path) -> None:
    with (
        serving(Obedient(first_s=4.0)) as upstream,
        nginx(tmp_path, root_of(upstream), read_s=1) as proxy,
    ):
        report = await run(f"{proxy}/v1", "stream", layer="proxy")
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "gateway_timeout")


async def test_a_proxy_that_leads_to_another_server_is_found_out(
    tmp_path: Path, demo_server: str
) -> None:
    with (
        running_demo("--slots", "1", "--context-per-slot", "2048") as other,
        nginx(tmp_path, root_of(other)) as proxy,
    ):
        checks = [CheckSpec("stream")] * 9
        report = await run(
            f"{proxy}/v1", *checks, layer="proxy", server_url=demo_server, observe=True
        )
    assert (report.outcome, report.failure_class) == (Outcome.FAIL, "identity_mismatch")
    assert "leads to another one" in report.explanation
