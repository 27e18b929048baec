"""The bench's arithmetic, and a tiny run of all its parts. No test here says how fast we are."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from runs.engine.bench.__main__ import SAMPLED, measure, truth_server
from runs.engine.bench.report import heading, ratios, row
from runs.engine.bench.score import Score, Spread, score
from runs.engine.bench.truth import CHUNKS, ITL_JITTER_S, ITL_S, TTFT_S, Moments, schedule

MS = 1_000_000
CLIENTS = ("floor", "ours", SAMPLED, "httpx")


def log_of(*starts_ms: int) -> dict[int, Moments]:
    """Requests received at these moments; first chunk 200 ms later, then one every 20 ms."""
    return {
        request: (at * MS, [(at + 200 + 20 * chunk) * MS for chunk in range(CHUNKS)])
        for request, at in enumerate(starts_ms)
    }


def report_of(*said: tuple[int, float, float], chunks: int = CHUNKS) -> dict[str, Any]:
    measured = [
        {"request": request, "ttft_ms": ttft, "last_ms": last, "chunks": chunks}
        for request, ttft, last in said
    ]
    return {"measured": measured, "cpu_s": 0.5, "peak_bytes": 1000}


def test_errors_are_what_the_client_says_minus_the_truth() -> None:
    """The true first chunk comes after 200 ms, the last one 980 ms after it."""
    found = score(
        "ours", 2, False, report_of((0, 203.0, 1183.0), (1, 198.0, 1227.0)), log_of(0, 0)
    )

    assert found.requests == 2
    assert found.ttft_error_ms.max == pytest.approx(3.0)
    assert found.ttft_error_ms.median == pytest.approx(2.0)  # too early is an error as well
    assert found.itl_error_ms.max == pytest.approx(1.0)  # 49 ms too long over 49 gaps
    assert found.itl_error_ms.median == pytest.approx(0.0)
    assert found.cpu_s_per_1000_chunks == pytest.approx(0.5 / 100 * 1000)


def test_streams_really_open_are_a_share_of_those_asked_for() -> None:
    lasts_ms = 200 + 20 * (CHUNKS - 1)
    one_after_another = log_of(0, lasts_ms)
    said = report_of((0, 200.0, 1180.0), (1, 200.0, 1180.0))

    assert score("ours", 2, False, said, one_after_another).open_share == pytest.approx(0.5)
    assert score("ours", 2, False, said, log_of(0, 0)).open_share == pytest.approx(1.0)


def test_a_client_that_lost_chunks_gets_no_score() -> None:
    said = report_of((0, 200.0, 1180.0), chunks=10)

    with pytest.raises(ValueError, match="10 of 50"):
        score("ours", 1, False, said, log_of(0))


def test_a_spread_takes_ranks_of_absolute_errors() -> None:
    spread = Spread.of([-float(error) for error in range(1, 201)])

    assert (spread.median, spread.p99, spread.max) == (100.0, 198.0, 200.0)


def test_ratios_are_to_the_floor_under_the_same_load() -> None:
    def made(client: str, jitter: bool, p99: float, cpu: float) -> Score:
        spread = Spread(0.1, p99, p99)
        return Score(client, 16, jitter, 80, spread, spread, 1.0, cpu, 1)

    table = ratios(
        [
            made("floor", False, 2.0, 0.1),
            made("ours", False, 3.0, 0.15),
            made("floor", True, 4.0, 0.1),
            made("ours", True, 3.0, 0.2),
        ]
    ).splitlines()

    assert table[-2].split() == ["lock-step", "16", "ours", "1.50", "1.50", "1.50"]
    assert table[-1].split() == ["jitter", "16", "ours", "0.75", "0.75", "2.00"]


def test_a_schedule_is_known_before_it_is_played() -> None:
    even = schedule(7, jitter=False)
    uneven = schedule(7, jitter=True)
    gaps = [later - earlier for earlier, later in pairwise(uneven)]

    assert len(even) == len(uneven) == CHUNKS
    assert even[0] == TTFT_S
    assert even[-1] == pytest.approx(TTFT_S + ITL_S * (CHUNKS - 1))
    assert uneven == schedule(7, jitter=True) != schedule(8, jitter=True)
    assert all(ITL_S - ITL_JITTER_S <= gap <= ITL_S + ITL_JITTER_S + 1e-9 for gap in gaps)
    assert len(set(gaps)) > 1


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_sees_every_chunk_of_a_tiny_run(client: str) -> None:
    with truth_server() as root:
        found = measure(root, client, streams=2, rounds=1, jitter=client == "ours")

    assert found.requests == 2
    assert found.ttft_error_ms.median <= found.ttft_error_ms.p99 <= found.ttft_error_ms.max
    assert 0 < found.open_share <= 1
    assert found.cpu_s_per_1000_chunks > 0
    assert found.peak_bytes > 1_000_000
    assert len(row(found)) == len(heading().splitlines()[0])


def test_the_command_prints_its_figures_as_json() -> None:
    command = [sys.executable, "-m", "runs.engine.bench", "--quick", "--streams", "2"]
    command += ["--clients", "floor", "ours", "--json"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)

    figures = json.loads(ran.stdout)
    assert [(f["client"], f["jitter"]) for f in figures] == [
        ("floor", False),
        ("ours", False),
        ("floor", True),
        ("ours", True),
    ]
    assert all(f["streams"] == 2 and f["requests"] == 4 for f in figures)
    assert all(set(f["ttft_error_ms"]) == {"median", "p99", "max"} for f in figures)
