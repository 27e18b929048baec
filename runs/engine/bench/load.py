"""Puts a closed loop of streams on the truth server with one client; prints JSON.

Run as a process of its own, so that its CPU time and peak memory are the client's alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from runs.engine.bench.clients import CLIENTS
from runs.engine.memory import MemorySampler
from runs.engine.quiet import quiet_collector

RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Load:
    """`streams` open at once, each followed by the next, until there were `rounds` of each."""

    client: str
    base_url: str
    streams: int
    rounds: int
    jitter: bool
    sampler: bool


class _Deaf:
    """An observer that keeps nothing."""

    def emit(self, kind: str, payload: dict[str, Any]) -> None:
        """Only the sampling itself is looked at."""


class _Sampling(AbstractContextManager[None]):
    def __init__(self, base_url: str) -> None:
        self._sampler = MemorySampler(base_url, _Deaf(), 0.5)

    def __enter__(self) -> None:
        self._sampler.start()

    def __exit__(self, *_: object) -> None:
        self._sampler.stop()


async def run(load: Load) -> dict[str, Any]:
    """The measured requests, CPU seconds and peak resident bytes of this process."""
    client = CLIENTS[load.client](load.base_url)
    numbers = iter(range(load.streams * load.rounds))

    async def stream() -> None:
        for number in numbers:
            await client.ask(number, f"/chat/completions?jitter={int(load.jitter)}")

    with _Sampling(load.base_url) if load.sampler else nullcontext():
        before_s = _cpu_s()
        with quiet_collector() if load.client == "ours" else nullcontext():
            await asyncio.gather(*(stream() for _ in range(load.streams)))
        cpu_s = _cpu_s() - before_s
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT_BYTES
    client.close()
    measured = [asdict(one) for one in client.measured]
    return {"measured": measured, "cpu_s": cpu_s, "peak_bytes": peak_bytes}


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(prog="runs.engine.bench.load")
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("base_url")
    parser.add_argument("--streams", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--jitter", action="store_true")
    parser.add_argument("--sampler", action="store_true")
    print(json.dumps(asyncio.run(run(Load(**vars(parser.parse_args()))))))


if __name__ == "__main__":
    main()
