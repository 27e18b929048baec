"""mlx_lm.server on a CPU, with the demo's own model: HTTP/1.0, streams that end with their
connection, and keep-alive comments that tell of the prompt. Slow: few and short questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from demo.fixtures import free_port
from runs.engine.outcomes import Outcome
from runs.engine.records import Ending
from runs.engine.runtimes.detect import discover
from runs.engine.tests.running import run
from runs.engine.tests.runtimes.programs import HOME, MLX_LM, demo_weights, installed, program

pytestmark = pytest.mark.runtimes


@pytest.fixture(scope="module")
def mlx_server() -> Iterator[str]:
    """Its base URL."""
    binaries, model = installed(*MLX_LM), demo_weights()
    (HOME / "hub").mkdir(exist_ok=True)  # without one, its model list is an empty answer
    root = f"http://127.0.0.1:{(port := free_port())}"
    with program(
        [binaries / "mlx_lm.server", "--model", model, "--host", "127.0.0.1", "--port", str(port)],
        f"{root}/health",
        ready_s=120,
        env={"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(HOME / "hub")},
    ):
        yield f"{root}/v1"


async def test_it_is_recognised_and_its_traps_are_told(mlx_server: str) -> None:
    found = await discover(mlx_server)
    assert found.runtime == "mlx-lm"
    assert any("512 tokens" in warning for warning in found.warnings)


async def test_it_answers_and_its_streams_end_with_their_connection(mlx_server: str) -> None:
    report = await run(mlx_server, "marker", "chat", "stream")
    assert report.outcome is Outcome.CLEAN_PASS, report.explanation
    stream = report.requests[-1]
    assert (stream.ending, stream.done_seen) == (Ending.EOF.value, True)
    assert stream.timeline.decode_tps
    assert report.identity_after.status == "alias_only"


async def test_a_slot_is_not_reported_so_the_next_request_tells(mlx_server: str) -> None:
    report = await run(mlx_server, "cancel")
    assert report.checks[0].figures["release"].startswith("not reported")
    assert report.requests[-1].outcome is Outcome.CLEAN_PASS
