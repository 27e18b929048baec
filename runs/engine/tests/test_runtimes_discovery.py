"""Discovery says what an address is, and says plainly why when it cannot."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from runs.engine.runtimes.detect import Discovery, DiscoveryError, discover
from runs.engine.tests.answers import recorded, serving

JSON = {"content-type": "application/json"}


async def found(name: str, **options: Any) -> Discovery:
    with serving(recorded(name)) as address:
        return await discover(address, **options)


@pytest.mark.parametrize(
    ("recording", "runtime"),
    [
        ("llama.cpp", "llama.cpp"),
        ("xllamacpp", "llama.cpp"),
        ("mlx-lm", "mlx-lm"),
        ("omlx", "omlx"),
        ("vllm", "vllm"),
        ("vllm-mlx", "openai"),
        ("ollama", "ollama"),
        ("lm-studio", "lm-studio"),
        ("mtplx", "mtplx"),
        ("litellm", "openai"),
        ("nginx", "llama.cpp"),
        ("llama-swap", "openai"),
    ],
)
async def test_it_recognises_each_runtime_by_what_it_answers(recording: str, runtime: str) -> None:
    discovery = await found(recording)
    assert discovery.runtime == runtime
    assert discovery.evidence
    assert discovery.base_url.endswith("/v1")


@pytest.mark.parametrize(
    ("recording", "gateway"),
    [("litellm", "LiteLLM"), ("llama-swap", "llama-swap"), ("nginx", "nginx"), ("vllm", "")],
)
async def test_it_knows_a_gateway_and_warns_of_it(recording: str, gateway: str) -> None:
    discovery = await found(recording)
    assert discovery.gateway == gateway
    assert discovery.is_gateway == bool(gateway)
    assert any(gateway in warning for warning in discovery.warnings) or not gateway


async def test_it_reads_file_slots_and_context_of_llama_cpp() -> None:
    facts = (await found("llama.cpp")).facts
    assert facts.file == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert (facts.parallel, facts.context_per_slot, facts.context_total) == (4, 2048, 8192)
    assert (facts.quantization, facts.n_params) == ("Q4_1", 134515008)
    assert facts.level == 4


async def test_it_reads_the_digest_and_the_real_context_of_ollama() -> None:
    facts = (await found("ollama")).facts
    assert facts.digest == "ab12" * 16
    assert (facts.context_per_slot, facts.level) == (4096, 4)


async def test_it_warns_that_a_cloud_model_does_not_run_here() -> None:
    discovery = await found("ollama", model="big:cloud")
    assert any("cloud model" in warning for warning in discovery.warnings)


async def test_it_reads_what_lm_studio_has_loaded() -> None:
    facts = (await found("lm-studio")).facts
    assert (facts.quantization, facts.context_total, facts.parallel) == ("Q4_K_M", 8192, 4)
    assert facts.level == 3


async def test_it_takes_the_root_of_vllm_as_the_artifact() -> None:
    facts = (await found("vllm")).facts
    assert facts.file == "models/smollm2-135m-hf"
    assert (facts.version, facts.context_per_slot) == ("0.32.0", 2048)


async def test_it_says_what_it_could_not_learn() -> None:
    discovery = await found("mlx-lm")
    assert "loaded model file" in discovery.not_learned
    assert any("512 tokens" in warning for warning in discovery.warnings)


@pytest.mark.parametrize(
    "typed", ["{}", "{}/", "{}/v1", "{}/v1/chat/completions", "{}/v1/models?x=1"]
)
async def test_it_accepts_an_address_as_people_paste_it(typed: str) -> None:
    with serving(recorded("vllm")) as address:
        discovery = await discover(typed.format(address.removeprefix("http://")))
        assert discovery.base_url == f"{address}/v1"


async def refusal(address: str, **options: Any) -> str:
    with pytest.raises(DiscoveryError) as error:
        await discover(address, timeout_s=1.0, **options)
    return str(error.value)


async def test_nothing_listens_is_said_plainly() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    assert "Nothing answers" in await refusal(address)


@pytest.mark.parametrize(
    "typed", ["ftp://x", "http://", "http://a:b@127.0.0.1:1", "http://x:99999"]
)
async def test_what_is_no_address_is_refused(typed: str) -> None:
    assert await refusal(typed)


async def test_a_web_page_is_no_model_server() -> None:
    page = {"status": 200, "headers": {"content-type": "text/html"}, "body": "<html>hi</html>"}
    with serving({"*": page}) as address:
        assert "web page" in await refusal(address)


async def test_a_missing_key_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(recorded("llama.cpp-locked")) as address:
        assert "wants a key (401)" in await refusal(address)
        monkeypatch.setenv("LAB_KEY", "wrong")
        assert "refused the key in LAB_KEY" in await refusal(address, api_key_env="LAB_KEY")


async def test_a_redirect_is_not_followed() -> None:
    moved = {"status": 302, "headers": {"location": "http://elsewhere.invalid/"}, "body": ""}
    with serving({"*": moved}) as address:
        assert "Redirects are not followed" in await refusal(address)


async def test_a_loading_server_is_asked_to_be_tried_again() -> None:
    error = {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}
    with serving({"*": {"status": 503, "headers": JSON, "body": str(error)}}) as address:
        assert "loading" in await refusal(address)


async def test_an_enormous_line_is_not_read_to_its_end() -> None:
    line = {"status": 200, "headers": JSON, "body": "x" * (10 * 1024 * 1024)}
    with serving({"*": line}) as address:
        assert "more than 2 MiB" in await refusal(address)


async def test_a_port_that_speaks_something_else_is_said_so() -> None:
    with talking(b"SSH-2.0-OpenSSH_9.9\r\nProtocol mismatch.\r\n\r\n") as address:
        assert "does not answer in HTTP" in await refusal(address)


async def test_a_silent_port_costs_only_the_time_limit() -> None:
    with talking(b"") as address:
        assert "did not answer within 1 s" in await refusal(address)


@contextmanager
def talking(greeting: bytes) -> Iterator[str]:
    """A TCP service that greets, or is silent, and never speaks HTTP."""
    server = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            kept.append(connection)
            connection.sendall(greeting)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.close()
        for connection in kept:
            connection.close()
