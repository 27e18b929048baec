"""The serving programs the engine has adapters for, by key."""

from __future__ import annotations

from catalog.models import Runtime, RuntimeBuild

RUNTIMES = {
    "llama.cpp": "llama.cpp (llama-server)",
    "mlx-lm": "MLX-LM (mlx_lm.server)",
    "omlx": "oMLX",
    "vllm": "vLLM",
    "vllm-metal": "vLLM-Metal",
    "ollama": "Ollama",
    "lm-studio": "LM Studio",
    "mtplx": "MTPLX",
    "openai": "Any other OpenAI-compatible server",
}


def ensure_runtime(key: str) -> Runtime:
    """The row of a known runtime; raises KeyError for any other key."""
    runtime, _ = Runtime.objects.get_or_create(key=key, defaults={"name": RUNTIMES[key]})
    return runtime


def ensure_build(runtime: Runtime, version: str) -> RuntimeBuild:
    """The row of a runtime at one version; empty when nobody knows it."""
    build, _ = RuntimeBuild.objects.get_or_create(runtime=runtime, version=version)
    return build
