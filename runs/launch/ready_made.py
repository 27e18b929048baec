"""Profiles that come with the product: how each known runtime is started, as data.

Flags are those of the runtimes' own command lines; where a runtime has no flag for a parameter,
the note says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ReadyMade:
    """Fields of `LaunchProfile`; `runtime` is an adapter key."""

    key: str
    name: str
    runtime: str
    program: str
    arguments: tuple[str, ...]
    note: str
    variables: dict[str, str] = field(default_factory=dict)
    inherited: tuple[str, ...] = ()
    ready_s: int = 300
    grace_s: int = 15
    by_hand: str = ""


HF = ("HF_HOME", "HF_HUB_OFFLINE")
LOCAL = ("--host", "127.0.0.1", "--port", "{port}")

READY_MADE = (
    ReadyMade(
        key="demo",
        name="Demo llama.cpp server",
        runtime="llama.cpp",
        program="{python}",
        arguments=(
            *("-m", "demo.server", "--port", "{port}"),
            *("--slots", "{parallel}", "--context-per-slot", "{context_per_slot}"),
        ),
        ready_s=90,
        grace_s=5,
        note="The llama.cpp server with a 135M model that comes with the product.",
    ),
    ReadyMade(
        key="llama-cpp",
        name="llama.cpp (llama-server)",
        runtime="llama.cpp",
        program="llama-server",
        arguments=(
            *("--model", "{model_path}", *LOCAL),
            # An explicit count of slots: each has its own part of the pool.
            *("--parallel", "{parallel}", "--ctx-size", "{context_total}"),
            *("--cache-type-k", "{kv_type}", "--cache-type-v", "{kv_type}"),
            *("--cache-ram", "{prompt_cache_mib}", "--ctx-checkpoints", "{checkpoints}"),
            "--metrics",
        ),
        note=(
            "The context is a pool: slots x context per slot. The prompt cache takes host memory "
            "on top of weights and context. Checkpoints are per slot."
        ),
    ),
    ReadyMade(
        key="mlx-lm",
        name="MLX-LM (mlx_lm.server)",
        runtime="mlx-lm",
        program="mlx_lm.server",
        arguments=(
            *("--model", "{model_path}", *LOCAL),
            *("--decode-concurrency", "{parallel}", "--prompt-concurrency", "{parallel}"),
        ),
        inherited=HF,
        note=(
            "No limit of context is enforced. The server answers 512 tokens at most unless told "
            "otherwise: add --max-tokens as an extra argument. KV quantization switches batching "
            "off, so no KV type is passed."
        ),
    ),
    ReadyMade(
        key="omlx",
        name="oMLX (omlx serve)",
        runtime="omlx",
        program="omlx",
        arguments=(
            *("serve", "--model-dir", "{model_path}", *LOCAL),
            *("--max-concurrent-requests", "{parallel}", "--memory-guard", "balanced"),
        ),
        note=(
            "Give the folder that holds the model's folder. Context comes from the model's "
            "settings. The SSD cache stays on disk over restarts: a repeat may be warm at once."
        ),
    ),
    ReadyMade(
        key="vllm",
        name="vLLM (vllm serve)",
        runtime="vllm",
        program="vllm",
        arguments=(
            *("serve", "{model_path}", *LOCAL),
            *("--max-num-seqs", "{parallel}", "--max-model-len", "{context_per_slot}"),
            *("--enable-prompt-tokens-details", "--generation-config", "vllm"),
        ),
        inherited=(*HF, "CUDA_VISIBLE_DEVICES"),
        ready_s=900,
        grace_s=30,
        note=(
            "Sequences share one KV pool, sized by --gpu-memory-utilization (0.92 by default): "
            "slots do not multiply the memory. The first requests may compile kernels."
        ),
    ),
    ReadyMade(
        key="vllm-metal",
        name="vLLM-Metal (vllm serve)",
        runtime="vllm-metal",
        program="vllm",
        arguments=(
            *("serve", "{model_path}", *LOCAL),
            *("--max-num-seqs", "{parallel}", "--max-model-len", "{context_per_slot}"),
            *("--enable-prompt-tokens-details", "--generation-config", "vllm"),
        ),
        inherited=(*HF, "VLLM_METAL_MEMORY_FRACTION", "VLLM_METAL_USE_PAGED_ATTENTION"),
        ready_s=900,
        grace_s=30,
        note=(
            "A plug-in of vLLM. VLLM_METAL_MEMORY_FRACTION of the worker's environment wins over "
            "the flag. A negative KV budget ends it at its start."
        ),
    ),
    ReadyMade(
        key="ollama",
        name="Ollama (ollama serve)",
        runtime="ollama",
        program="ollama",
        arguments=("serve",),
        variables={
            "OLLAMA_HOST": "127.0.0.1:{port}",
            "OLLAMA_NUM_PARALLEL": "{parallel}",
            "OLLAMA_CONTEXT_LENGTH": "{context_per_slot}",
            "OLLAMA_KV_CACHE_TYPE": "{kv_type}",
        },
        inherited=("OLLAMA_MODELS",),
        note=(
            "Ollama is set up by variables, and loads the model on its first request. Several "
            "families run one request at a time whatever is asked for."
        ),
    ),
    ReadyMade(
        key="lm-studio",
        name="LM Studio (lms load)",
        runtime="lm-studio",
        program="lms",
        arguments=(
            *("load", "{model_path}"),
            *("--context-length", "{context_per_slot}", "--parallel", "{parallel}"),
        ),
        by_hand=(
            "LM Studio serves from its own application: the command returns at once, and what it "
            "loads is no process of ours that could be watched and stopped. Start the server "
            "(lms server start), load the model with the command shown here, and sweep it as a "
            "server run by somebody else."
        ),
        note="Load explicitly: models loaded on a first request may ignore their settings.",
    ),
    ReadyMade(
        key="mtplx",
        name="MTPLX (mtplx serve)",
        runtime="mtplx",
        program="mtplx",
        arguments=(
            *("serve", "--model", "{model_path}", *LOCAL),
            *("--context-window", "{context_per_slot}", "--no-stats-footer"),
        ),
        inherited=HF,
        note=(
            "Runs one request at a time unless batching is enabled by an extra argument. Its "
            "session cache on SSD is on by default."
        ),
    ),
)
