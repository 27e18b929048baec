"""Groups of requests as a sweep asks for them: of a size, repeated, and for pooling models."""

from __future__ import annotations

import pytest

from runs.engine.outcomes import Outcome
from runs.engine.tests.obedient import Obedient
from runs.engine.tests.test_checks import check


async def test_a_repeated_group_sends_the_same_bytes_and_counts_only_the_second_time() -> None:
    result, report = await check(Obedient(), "concurrency", clients=2, repeat=1)
    assert result.outcome is Outcome.CLEAN_PASS
    assert [r.cache for r in report.requests] == ["fresh", "fresh", "repeat", "repeat"]
    asked = [r.asked for r in report.requests]
    assert asked[:2] == asked[2:]
    assert asked[0] != asked[1], "two clients must not share a prompt"
    assert result.figures["completed"] == 2


async def test_a_group_of_a_given_size_asks_every_client_with_a_prompt_of_its_own() -> None:
    result, report = await check(Obedient(), "concurrency", clients=2, tokens=600)
    group = [r for r in report.requests if r.check == "concurrency"]
    assert result.outcome is Outcome.CLEAN_PASS
    assert [r.client_concurrency for r in group] == [2, 2]
    assert all(len(r.asked) > 1000 for r in group)
    assert len({r.asked for r in group}) == 2


@pytest.mark.parametrize("key", ["embeddings", "rerank"])
async def test_pooling_under_load_tells_requests_per_second(key: str) -> None:
    result, report = await check(Obedient(), key, clients=2, rounds=3)
    assert len(report.requests) == result.figures["asked"] == result.figures["completed"] == 6
    assert result.figures["requests_per_s"] > 0
