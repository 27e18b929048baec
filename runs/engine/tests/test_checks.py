"""Every check passes on a server that does right, and names what is wrong on one that does not."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runs.engine.checks import CHECKS, plan_requests
from runs.engine.checks.base import NotApplicable, Scene
from runs.engine.checks.long import ROOM_TOKENS, size
from runs.engine.outcomes import Outcome
from runs.engine.plan import CheckSpec, Plan, Target
from runs.engine.records import CheckResult, RunReport
from runs.engine.runtimes.base import Facts
from runs.engine.suites import DEFAULT_SUITES, FULL
from runs.engine.tests.obedient import MODEL, Obedient, serving
from runs.engine.tests.running import Recorder, plan, run

EVERY = [
    "marker",
    "chat",
    "stream",
    "json",
    "schema",
    "tool",
    "tool_result",
    "repeat",
    "concurrency",
    "cancel",
    "embeddings",
    "rerank",
    "long",
]


async def check(model: Obedient, key: str, **params: Any) -> tuple[CheckResult, RunReport]:
    with serving(model) as base_url:
        report = await run(base_url, CheckSpec(key, params), model=MODEL, runtime="openai")
    return report.checks[0], report


@pytest.mark.parametrize("key", EVERY)
async def test_it_passes_where_everything_is_right(key: str) -> None:
    result, report = await check(Obedient(), key)
    assert (result.outcome, result.explanation) == (Outcome.CLEAN_PASS, "")
    assert report.outcome is Outcome.CLEAN_PASS


@pytest.mark.parametrize("key", EVERY)
async def test_it_sends_what_the_plan_announced_and_never_a_limit(key: str) -> None:
    model = Obedient()
    result, report = await check(model, key)
    announced = CHECKS[key].requests({})
    calibration = key in ("long", "repeat")  # without a tokenizer one more request is needed
    assert announced <= len(model.asked) <= announced + calibration
    assert result.requests == list(range(len(report.requests)))
    assert all("max_tokens" not in body for body in model.asked)
    assert all(request.asked and request.expected for request in report.requests)


class Wrong(Obedient):
    def answer(self, body: dict[str, Any]) -> str:
        return "Something else entirely."


class Silent(Obedient):
    def answer(self, body: dict[str, Any]) -> str:
        return ""


class Toolless(Obedient):
    def tool_call(self, body: dict[str, Any]) -> dict[str, Any] | None:
        return None


class WrongTool(Obedient):
    def tool_call(self, body: dict[str, Any]) -> dict[str, Any] | None:
        return {"name": "other_tool", "arguments": "{}"}


class Truncating(Obedient):
    """Reads only the end of a prompt, as a server with a short window does."""

    def answer(self, body: dict[str, Any]) -> str:
        room = 4000
        for message in reversed(body["messages"]):
            message["content"] = message["content"][-room:] if room > 0 else ""
            room -= len(message["content"])
        return super().answer(body)


@pytest.mark.parametrize(
    ("model", "key", "failure_class"),
    [
        (Wrong(), "marker", "marker_mismatch"),
        (Wrong(), "json", "json_invalid"),
        (Wrong(), "schema", "json_invalid"),
        (Wrong(), "tool_result", "marker_mismatch"),
        (Silent(), "stream", "empty_response"),
        (Silent(), "chat", "empty_response"),
        (Toolless(), "tool", "tool_call_missing"),
        (WrongTool(), "tool", "tool_call_invalid"),
        (Truncating(), "long", "marker_mismatch"),
    ],
)
async def test_it_names_what_is_wrong(model: Obedient, key: str, failure_class: str) -> None:
    result, report = await check(model, key)
    assert (result.outcome, result.failure_class) == (Outcome.FAIL, failure_class)
    assert report.failure_class == failure_class


async def test_a_marker_and_a_tool_can_be_given() -> None:
    model = Obedient()
    await check(model, "marker", marker="north 4711")
    assert model.asked[0]["messages"][-1]["content"] == "Repeat: north 4711"
    result, _ = await check(model, "tool", expect_tool="get_forecast")
    assert result.outcome is Outcome.CLEAN_PASS
    assert model.asked[-1]["tools"][0]["function"]["name"] == "get_forecast"


async def test_a_prompt_is_fresh_in_every_run() -> None:
    model = Obedient()
    await check(model, "marker")
    await check(model, "marker")
    first, second = (body["messages"][0]["content"] for body in model.asked)
    assert first.split()[0] != second.split()[0]


async def test_an_exact_repeat_sends_the_same_bytes_and_is_kept_apart() -> None:
    model = Obedient()
    _, report = await check(model, "repeat")
    assert model.asked[-2] == model.asked[-1]
    assert [r.cache for r in report.requests[-2:]] == ["fresh", "repeat"]


def sized(tokens: int, reported: int | None, configured: int | None = None) -> int:
    target = Target("http://127.0.0.1:1/v1", MODEL, context_per_slot=configured)
    scene = SimpleNamespace(
        facts=Facts(context_per_slot=reported), plan=Plan("test", 1, (), target)
    )
    return size(cast(Scene, scene), {"tokens": tokens})


def test_a_size_leaves_room_for_an_answer_or_is_left_out_and_never_becomes_another() -> None:
    assert sized(8192, 32768) == sized(8192, None) == 8192
    assert sized(131072, 131072) == 131072 - ROOM_TOKENS
    for limit in (4096, 8192):  # the room would be more than a hundredth of it
        with pytest.raises(NotApplicable, match=f"8,192 .* do not fit into a slot of {limit:,}"):
            sized(8192, limit)
    with pytest.raises(NotApplicable):
        sized(65536, None, configured=32768)
    assert sized(65536, 131072, configured=32768) == 65536, "the server knows better"


async def test_without_a_tokenizer_the_size_is_calibrated() -> None:
    result, report = await check(Obedient(), "long", tokens=3000)
    assert result.figures["size_origin"] == "calibrated"
    assert report.requests[0].label == "calibration"
    assert 2700 < (report.requests[1].tokens.prompt or 0) < 3300


async def test_a_stream_that_was_cut_is_in_no_spread_of_its_group() -> None:
    """Five measuring tools were seen to take it for the quickest success."""
    result, report = await check(Obedient(break_at=1), "concurrency", clients=3)
    assert (result.outcome, result.failure_class) == (Outcome.FAIL, "truncated_stream")
    assert result.figures["completed"] == result.figures["end_ms"]["n"] == 2
    whole = [r.tokens.completion or 0 for r in report.requests if not r.failure_class]
    assert result.figures["completion_tokens_total"] == sum(whole)


class Uneven(Obedient):
    """Its first answer is over long before the others."""

    turns = count()

    def answer(self, body: dict[str, Any]) -> str:
        whole = super().answer(body)
        return whole if next(self.turns) else whole[:8]


async def test_none_of_a_group_is_judged_while_another_is_still_open() -> None:
    recorder = Recorder()
    with serving(Uneven(token_s=0.03)) as base_url:
        group = CheckSpec("concurrency", {"clients": 3})
        report = await run(base_url, group, observer=recorder, model=MODEL, runtime="openai")
    kinds = [kind for kind, _ in recorder.events]
    assert report.outcome is Outcome.CLEAN_PASS
    assert "request.progress" in kinds
    assert "request.progress" not in kinds[kinds.index("request.finished") :]


async def test_concurrent_requests_are_open_together_and_their_spread_is_told() -> None:
    result, report = await check(Obedient(), "concurrency", clients=8)
    assert result.figures["clients_asked"] == 8
    assert result.figures["ttft_ms"]["n"] == 8
    assert {r.client_concurrency for r in report.requests} == {8}


# --- thinking ---


async def test_thinking_that_can_be_switched_off_passes() -> None:
    result, _ = await check(Obedient(thinks=True), "thinking")
    assert result.outcome is Outcome.CLEAN_PASS


async def test_thinking_that_cannot_be_switched_off_is_found() -> None:
    result, _ = await check(Obedient(thinks=True, ignores_switch=True), "thinking")
    assert (result.outcome, result.failure_class) == (Outcome.DEGRADED, "reasoning_leaked")


async def test_a_model_without_thinking_is_left_out_and_never_a_pass() -> None:
    result, report = await check(Obedient(), "thinking")
    assert result.figures == {"skipped": True}
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "left out" in report.explanation


# --- pooling ---


class Changing(Obedient):
    calls = 0

    def vector(self, text: str) -> list[float]:
        self.calls += 1
        return [x * self.calls for x in super().vector(text)]


class Infinite(Obedient):
    def vector(self, text: str) -> list[float]:
        return [float("nan")] * 4


class Backwards(Obedient):
    def score(self, query: str, document: str) -> float:
        return -super().score(query, document)


class TooFew(Obedient):
    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        return super().embeddings({**body, "input": body["input"][:2]})

    def rerank(self, body: dict[str, Any]) -> dict[str, Any]:
        return super().rerank({**body, "documents": body["documents"][:2]})


class FloatsOnly(Obedient):
    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        return super().embeddings({**body, "encoding_format": "float"})


@pytest.mark.parametrize(
    ("model", "key", "failure_class"),
    [
        (Changing(), "embeddings", "pooling_invalid"),
        (Infinite(), "embeddings", "pooling_invalid"),
        (TooFew(), "embeddings", "pooling_invalid"),
        (FloatsOnly(), "embeddings", "encoding_ignored"),
        (Backwards(), "rerank", "pooling_invalid"),
        (TooFew(), "rerank", "pooling_invalid"),
    ],
)
async def test_it_finds_pooling_that_is_not_to_be_used(
    model: Obedient, key: str, failure_class: str
) -> None:
    result, _ = await check(model, key)
    assert result.failure_class == failure_class


async def test_it_says_what_embeddings_and_scores_are_like() -> None:
    result, _ = await check(Obedient(), "embeddings")
    assert (result.figures["count"], result.figures["dimension"]) == (3, 8)
    assert result.figures["normalised"] is False
    result, _ = await check(Obedient(), "rerank")
    assert result.figures["score_kind"] == "raw scores (logits)"


# --- suites ---


def test_every_suite_names_checks_that_exist_and_counts_its_requests() -> None:
    for suite in DEFAULT_SUITES:
        assert {spec.key for spec in suite.checks} <= set(CHECKS)
        assert suite.description
        assert plan_requests(plan("http://127.0.0.1:1/v1", *suite.checks)) > 0


def test_every_check_belongs_to_a_suite() -> None:
    used = {spec.key for suite in DEFAULT_SUITES for spec in suite.checks}
    assert used == set(CHECKS)


def test_the_full_qualification_asks_every_size_the_cheap_ones_first() -> None:
    sizes = [spec.params["tokens"] for spec in FULL.checks if spec.key == "long"]
    assert sizes == [2048, 8192, 32768, 65536, 100000, 131072]
    assert [spec.key for spec in FULL.checks[-len(sizes) :]] == ["long"] * len(sizes)
