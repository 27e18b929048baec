"""Runtime adapters by key."""

from __future__ import annotations

from runs.engine.runtimes.base import Adapter
from runs.engine.runtimes.llamacpp import LlamaCpp
from runs.engine.runtimes.lmstudio import LmStudio
from runs.engine.runtimes.mlx_lm import MlxLm
from runs.engine.runtimes.mtplx import Mtplx
from runs.engine.runtimes.ollama import Ollama, OllamaNative
from runs.engine.runtimes.omlx import Omlx
from runs.engine.runtimes.peek import Peek
from runs.engine.runtimes.vllm import Vllm, VllmMetal

ADAPTERS: dict[str, type[Adapter]] = {
    adapter.key: adapter
    for adapter in (LlamaCpp, MlxLm, Omlx, Vllm, VllmMetal, Ollama, LmStudio, Mtplx, Adapter)
}


def adapter_for(runtime: str, base_url: str, peek: Peek) -> Adapter:
    """The adapter of a runtime key; an unknown key is treated as the generic server."""
    if runtime == Ollama.key and base_url.rstrip("/").endswith("/api"):
        return OllamaNative(peek)
    return ADAPTERS.get(runtime, Adapter)(peek)
