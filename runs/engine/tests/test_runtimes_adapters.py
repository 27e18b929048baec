"""Adapters against recorded answers: health, load, tokens, and bodies that limit nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from runs.engine.identity import ALIAS_ONLY, MISMATCH, UNVERIFIABLE, VERIFIED, changes, weigh
from runs.engine.plan import Target
from runs.engine.records import Identity
from runs.engine.runtimes import ADAPTERS, adapter_for
from runs.engine.runtimes.base import ARTIFACT, LISTED, LOADED, Adapter, Ask, Facts
from runs.engine.runtimes.gateways import answered_by_somebody_else
from runs.engine.runtimes.metrics import read_metrics
from runs.engine.runtimes.peek import open_peek
from runs.engine.runtimes.processes import (
    ProcessHint,
    digest_file,
    find_process,
    without_secrets,
)
from runs.engine.tests.answers import recorded, serving

JSON = {"content-type": "application/json"}
ASK = Ask([{"role": "user", "content": "hi"}], sampling={"temperature": 0.0})


@asynccontextmanager
async def adapter(
    runtime: str, answers: dict[str, Any] | None = None, path: str = "/v1"
) -> AsyncIterator[Adapter]:
    known = recorded(runtime) if answers is None else answers
    with serving(known) as root:
        async with open_peek(root, timeout_s=2.0) as peek:
            yield adapter_for(runtime, root + path, peek)


def body(text: str, status: int = 200) -> dict[str, Any]:
    return {"status": status, "headers": JSON, "body": text}


@pytest.mark.parametrize(
    "runtime", ["llama.cpp", "mlx-lm", "omlx", "vllm", "ollama", "lm-studio", "mtplx"]
)
async def test_it_says_that_a_recorded_server_is_ready(runtime: str) -> None:
    async with adapter(runtime) as known:
        assert (await known.health()).state == "ready"


@pytest.mark.parametrize("runtime", sorted(ADAPTERS))
async def test_it_says_that_a_dead_address_is_down(runtime: str) -> None:
    async with open_peek("http://127.0.0.1:1", timeout_s=2.0) as peek:
        health = await adapter_for(runtime, "http://127.0.0.1:1/v1", peek).health()
    assert (health.state, health.kind) == ("down", "connect")


async def test_llama_cpp_is_loading_while_it_says_so() -> None:
    loading = body('{"error":{"message":"Loading model","code":503}}', 503)
    async with adapter("llama.cpp", {"*": loading}) as known:
        assert (await known.health()).state == "loading"


@pytest.mark.parametrize(
    ("runtime", "answers", "state"),
    [
        ("vllm", {"GET /health": body("", 503)}, "down"),
        ("mlx-lm", {"GET /health": body('{"status": "unavailable"}', 503)}, "down"),
        ("omlx", {"*": body('{"models_loading": 1}')}, "loading"),
        ("mtplx", {"GET /health": body('{"startup": {"status": "loading"}}')}, "loading"),
        ("openai", {"*": body("still loading", 503)}, "loading"),
    ],
)
async def test_it_reads_each_runtimes_own_way_of_not_being_ready(
    runtime: str, answers: dict[str, Any], state: str
) -> None:
    async with adapter(runtime, answers) as known:
        assert (await known.health()).state == state


async def test_load_is_none_where_the_runtime_does_not_tell() -> None:
    async with adapter("mlx-lm") as known:
        load = await known.load()
    assert (load.slots, load.running, load.waiting, load.counters) == (None, None, None, {})


async def test_it_reads_slots_and_counters_of_llama_cpp() -> None:
    async with adapter("llama.cpp") as known:
        load = await known.load()
    assert (load.slots, load.running, load.waiting) == (4, 0, 0)
    assert load.counters["prompt_tokens"] == 0


async def test_it_reads_running_and_waiting_of_vllm_and_omlx() -> None:
    async with adapter("vllm") as known:
        load = await known.load()
        assert (load.running, load.waiting) == (0, 0)
        assert load.counters["prompt_tokens_cached"] == 256
    async with adapter("omlx") as known:
        assert (await known.load()).counters["prompt_tokens"] == 36


async def test_it_counts_tokens_where_there_is_a_tokenizer() -> None:
    async with adapter("vllm") as known:
        assert await known.count_tokens(ASK.messages, "m") == 3
    async with adapter("llama.cpp") as known:
        assert await known.count_tokens(ASK.messages, "m") == 3
    async with adapter("omlx") as known:
        assert await known.count_tokens(ASK.messages, "m") is None


@pytest.mark.parametrize("runtime", sorted(ADAPTERS))
@pytest.mark.parametrize("stream", [True, False])
async def test_it_never_limits_the_answer(runtime: str, stream: bool) -> None:
    async with adapter(runtime, {}) as known:
        ask = Ask(ASK.messages, stream, thinking=False, schema={"type": "object"})
        _, sent = known.chat(ask, "m")
    assert not {"max_tokens", "max_completion_tokens", "n_predict"} & set(sent)
    assert sent["stream"] is stream


async def test_native_ollama_is_asked_in_its_own_words() -> None:
    async with adapter("ollama", {}, path="/api") as known:
        path, sent = known.chat(
            Ask(ASK.messages, sampling={"temperature": 0.0}, thinking=False), "m"
        )
    assert path == "/chat"
    assert (sent["options"], sent["think"]) == ({"temperature": 0.0}, False)
    assert "stream_options" not in sent


def test_every_adapter_says_what_it_was_proven_against() -> None:
    assert all(known.proven_against and known.traps for known in ADAPTERS.values())


def test_metrics_add_up_over_labels_and_leave_nonsense_out() -> None:
    text = '# HELP x\na{e="0"} 1\na{e="1"} 2.5e1\nb NaN\nc nonsense\nbroken{'
    assert read_metrics(text) == {"a": 26.0}


# --- identity ---

TARGET = Target("http://127.0.0.1:1/v1", "m", expected_file="/models/m.gguf")


@pytest.mark.parametrize(
    ("facts", "target", "status"),
    [
        (Facts(level=ARTIFACT, names=["m"], file="/elsewhere/m.gguf"), TARGET, VERIFIED),
        (Facts(level=ARTIFACT, names=["m"], file="/models/other.gguf"), TARGET, MISMATCH),
        (Facts(level=ARTIFACT, names=["x"], file="/models/m.gguf"), TARGET, MISMATCH),
        (Facts(level=LOADED, names=["m"]), TARGET, VERIFIED),
        (Facts(level=LISTED, models=["m"]), TARGET, ALIAS_ONLY),
        (Facts(), TARGET, UNVERIFIABLE),
        (
            Facts(level=ARTIFACT, names=["m"], digest="aa"),
            Target("http://x/v1", "m", expected_digest="bb"),
            MISMATCH,
        ),
        (
            Facts(level=LISTED, models=["route"]),
            Target("http://x/v1", "m", expected_names=("route",)),
            ALIAS_ONLY,
        ),
    ],
)
def test_it_weighs_what_proves_an_identity(facts: Facts, target: Target, status: str) -> None:
    assert weigh(facts, None, target).status == status


def test_the_process_that_has_the_file_open_is_stronger_proof() -> None:
    facts = Facts(level=ARTIFACT, names=["m"], file="/models/m.gguf")
    holder = ProcessHint(1, 5.0, ("server",), ("/models/m.gguf",))
    other = ProcessHint(1, 5.0, ("server",), ("/models/x.gguf",))
    assert weigh(facts, holder, TARGET).level == 5
    assert weigh(facts, other, TARGET).level == 4


def test_a_change_during_the_run_is_found() -> None:
    before = Identity(facts={"digest": "a", "process": {"pid": 1, "started_s": 1.0}})
    after = Identity(facts={"digest": "b", "process": {"pid": 2, "started_s": 2.0}})
    found = [f.failure_class for f in changes(before, after)]
    assert found == ["process_restarted", "identity_mismatch"]
    assert changes(before, before) == []


def test_an_answer_of_a_gateways_cache_or_fallback_proves_nothing() -> None:
    assert "cache" in answered_by_somebody_else({"X-LiteLLM-Cache-Key": "abc"})
    assert "fell back" in answered_by_somebody_else({"x-litellm-attempted-fallbacks": "1"})
    assert answered_by_somebody_else({"x-litellm-attempted-fallbacks": "0"}) == ""


def test_keys_do_not_stay_in_what_is_kept_of_the_arguments() -> None:
    argv = ["server", "--api-key", "s3cret", "--token=s3cret", "--port", "1"]
    assert without_secrets(argv) == ("server", "--api-key", "***", "--token=***", "--port", "1")


async def test_it_finds_the_process_behind_a_local_address() -> None:
    with serving({}) as root:
        hint = await asyncio.to_thread(find_process, root + "/v1")
    assert hint
    assert hint.pid > 0
    assert find_process("http://192.0.2.1:80/v1") is None


def test_it_digests_a_file_and_tells_how_far_it_is(tmp_path: Any) -> None:
    file, seen = tmp_path / "m.gguf", []
    file.write_bytes(b"abc")
    digest = digest_file(str(file), lambda done, total: seen.append((done, total)))
    assert digest.startswith("ba7816bf")
    assert seen == [(3, 3)]
