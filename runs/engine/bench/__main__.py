"""`python -m runs.engine.bench`: how far off are our own times, and at what cost."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

import httpx

from runs.engine.bench.report import heading, ratios, row
from runs.engine.bench.score import Score, score
from runs.engine.bench.truth import Moments

STREAMS = (1, 16, 64, 256)
ROUNDS, QUICK_ROUNDS = 5, 2
HTTPX_ROUNDS_ABOVE_64 = 2  # its pool scan is quadratic: more would take minutes
SAMPLED = "ours+sampler"


@contextmanager
def truth_server() -> Iterator[str]:
    """Its address, for as long as the block lasts."""
    command = [sys.executable, "-m", "runs.engine.bench.truth"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        server.stdin.close()


def measure(root: str, client: str, streams: int, rounds: int, *, jitter: bool) -> Score:
    """One client under one load, each in a process of its own."""
    if client == "httpx" and streams > 64:
        rounds = min(rounds, HTTPX_ROUNDS_ABOVE_64)
    name, _, sampler = client.partition("+")
    command = [sys.executable, "-m", "runs.engine.bench.load", name, f"{root}/v1"]
    command += ["--streams", str(streams), "--rounds", str(rounds)]
    command += ["--jitter"] * jitter + ["--sampler"] * bool(sampler)
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    log: dict[int, Moments] = {
        int(request): (received_ns, handed)
        for request, (received_ns, handed) in httpx.get(f"{root}/log", trust_env=False)
        .json()
        .items()
    }
    return score(client, streams, jitter, json.loads(ran.stdout), log)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m runs.engine.bench", description=__doc__)
    parser.add_argument("--streams", type=int, nargs="+", default=STREAMS)
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_ROUNDS} rounds, not {ROUNDS}"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON only")
    parser.add_argument("--clients", nargs="+", default=["floor", "ours", SAMPLED, "httpx"])
    asked = parser.parse_args()
    scores: list[Score] = []
    if not asked.json:
        print(heading())
    with truth_server() as root:
        for streams in asked.streams:
            for jitter in (False, True):
                for client in asked.clients:
                    rounds = QUICK_ROUNDS if asked.quick else ROUNDS
                    scores.append(measure(root, client, streams, rounds, jitter=jitter))
                    if not asked.json:
                        print(row(scores[-1]), flush=True)
    print(json.dumps([asdict(s) for s in scores]) if asked.json else ratios(scores))


if __name__ == "__main__":
    main()
