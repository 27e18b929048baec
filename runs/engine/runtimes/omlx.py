"""oMLX: many models behind one port, loaded on demand, with a status page that tells the truth."""

from __future__ import annotations

from typing import Any

from runs.engine.judge import Contract
from runs.engine.runtimes.base import (
    ARTIFACT,
    LOADING,
    READY,
    Adapter,
    Facts,
    Health,
    Load,
    down,
    whole,
)
from runs.engine.runtimes.peek import PeekError

COUNTERS = {
    "total_prompt_tokens": "prompt_tokens",
    "total_completion_tokens": "completion_tokens",
    "total_cached_tokens": "prompt_tokens_cached",
    "total_requests": "requests",
}


class Omlx(Adapter):
    key = "omlx"
    title = "oMLX"
    proven_against = "recorded answers of oMLX 0.3.9"
    traps = (
        "Its paged cache on disk survives a restart: a restart is no cold start.",
        "Answers end at 32,768 tokens unless configured otherwise.",
        "A first chunk named keepalive is sent at once and is no token.",
        "Without a grammar engine a schema is only put into the prompt.",
    )
    contract = Contract(cached_tokens=True)
    reports_load = True
    capabilities = ("chat", "embeddings", "rerank")

    async def health(self) -> Health:
        """`/health` is always 200; models are loaded one by one."""
        try:
            pool = (await self.peek.get("/health")).object.get("engine_pool")
            status = (await self.peek.get("/api/status")).object
        except PeekError as error:
            return down(error)
        if whole(status.get("models_loading")):
            return Health(LOADING, "The server is loading a model.")
        loaded = pool.get("loaded_count") if isinstance(pool, dict) else None
        return Health(READY, f"The server answers; {loaded or 'no'} model loaded.")

    async def enrich(self, facts: Facts, model: str) -> None:
        """`/v1/models/status` knows the path and whether it is loaded."""
        facts.version = str((await self.peek.get("/api/status")).object.get("version") or "")
        entry = pick((await self.peek.get("/v1/models/status")).object.get("models"), model)
        if not entry:
            return
        facts.names = [str(entry[k]) for k in ("id", "model_alias") if entry.get(k)]
        facts.context_per_slot = whole(entry.get("max_context_window"))
        facts.size_bytes = whole(entry.get("actual_size") or entry.get("estimated_size"))
        facts.settings["output_limit"] = whole(entry.get("max_tokens"))
        facts.settings["engine_type"] = entry.get("engine_type")
        facts.file = str(entry.get("model_path") or entry.get("source_repo_id") or "")
        if entry.get("loaded"):
            facts.level = ARTIFACT

    async def load(self) -> Load:
        """From `/api/status`."""
        status = (await self.peek.get("/api/status")).object
        known = {n: whole(status.get(k)) for k, n in COUNTERS.items()}
        counters = {n: float(value) for n, value in known.items() if value is not None}
        return Load(
            running=whole(status.get("active_requests")),
            waiting=whole(status.get("waiting_requests")),
            counters=counters,
            memory_bytes=whole(status.get("model_memory_used")),
        )


def pick(models: Any, model: str) -> dict[str, Any]:
    """The status entry of a model, by id or alias."""
    for entry in models if isinstance(models, list) else []:
        if isinstance(entry, dict) and model in (entry.get("id"), entry.get("model_alias")):
            return entry
    return {}
