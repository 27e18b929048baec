"""vLLM, and its Metal plug-in, which has the same API."""

from __future__ import annotations

from typing import Any, ClassVar

from runs.engine.runtimes.base import (
    ARTIFACT,
    DOWN,
    READY,
    Adapter,
    Facts,
    Health,
    Load,
    down,
    whole,
)
from runs.engine.runtimes.metrics import read_metrics
from runs.engine.runtimes.peek import PeekError

COUNTERS = {
    "vllm:prompt_tokens_total": "prompt_tokens",
    "vllm:generation_tokens_total": "completion_tokens",
    "vllm:prefix_cache_hits_total": "prompt_tokens_cached",
    "vllm:num_preemptions_total": "preemptions",
    "vllm:request_success_total": "requests",  # ended for whatever reason
}


class Vllm(Adapter):
    key = "vllm"
    title = "vLLM"
    proven_against = "a real server (vLLM 0.32 on a CPU), and its recorded answers"
    traps: ClassVar[tuple[str, ...]] = (
        "The model's own generation_config sets sampling and may cap the output.",
        "Prefix caching is on, and cached tokens are not reported by default.",
        "Tools need --enable-auto-tool-choice and a tool parser.",
    )
    reports_load = True
    capabilities = ("chat", "embeddings", "rerank", "tools", "tokenize")

    async def health(self) -> Health:
        """The port opens after loading; 503 means that the engine is dead."""
        try:
            answer = await self.peek.get("/health")
        except PeekError as error:
            return down(error)
        if answer.ok:
            return Health(READY, "The server says that its engine lives.")
        return Health(DOWN, f"The engine is dead (/health {answer.status}). Restart the server.")

    def read_models(self, facts: Facts, entries: list[dict[str, Any]], model: str) -> None:
        """Every served name has the same `root`: the path or repository of the model."""
        facts.names = list(facts.models)
        entry = next((e for e in entries if e.get("id") == model), None)
        if entry is None:
            return
        facts.context_per_slot = whole(entry.get("max_model_len"))
        if entry.get("root"):
            facts.file, facts.level = str(entry["root"]), ARTIFACT

    async def enrich(self, facts: Facts, model: str) -> None:
        facts.version = str((await self.peek.get("/version")).object.get("version") or "")

    async def load(self) -> Load:
        """From `/metrics`; the sums go over all engines."""
        metrics = read_metrics((await self.peek.get("/metrics")).text)
        return Load(
            running=whole(metrics.get("vllm:num_requests_running")),
            waiting=whole(metrics.get("vllm:num_requests_waiting")),
            counters={n: metrics[m] for m, n in COUNTERS.items() if m in metrics},
            kv_usage_ratio=share(metrics.get("vllm:kv_cache_usage_perc")),
        )

    async def count_tokens(self, messages: list[dict[str, Any]], model: str) -> int | None:
        answer = await self.peek.post("/tokenize", {"model": model, "messages": messages})
        return whole(answer.object.get("count"))


def share(value: float | None) -> float | None:
    """A share of one engine; several engines add up to something else."""
    return value if value is not None and 0 <= value <= 1 else None


class VllmMetal(Vllm):
    key = "vllm-metal"
    title = "vLLM-Metal"
    proven_against = "recorded answers of vLLM, whose API it shares"
    traps = (
        *Vllm.traps,
        "256 sequences reserve memory: start it with --max-num-seqs of 1 to 8.",
        "Before July 2026 --gpu-memory-utilization was ignored.",
    )
