"""LM Studio: 200 with an error body for every unknown path; its own API tells what is loaded."""

from __future__ import annotations

from typing import Any

from runs.engine.runtimes.base import DOWN, LOADED, READY, Adapter, Facts, Health, down, whole
from runs.engine.runtimes.peek import PeekError


class LmStudio(Adapter):
    key = "lm-studio"
    title = "LM Studio"
    proven_against = "replayed answers, written after its documentation 0.4"
    traps = (
        "A model that is not loaded is loaded just in time, and may evict the one under test.",
        "Just-in-time loads ignore per-model settings; the context is often 4,096 tokens.",
        "json_object is refused; a strict schema works.",
    )
    takes_json_object = False
    capabilities = ("chat", "embeddings", "tools")

    async def health(self) -> Health:
        try:
            answer = await self.peek.get("/lmstudio-greeting")
        except PeekError as error:
            return down(error)
        if answer.object.get("lmstudio"):
            return Health(READY, "The server answers; models may load on their first request.")
        return Health(DOWN, "The greeting of LM Studio did not come.")

    async def enrich(self, facts: Facts, model: str) -> None:
        """`/api/v1/models` since 0.4, `/api/v0/models` before."""
        newer = (await self.peek.get("/api/v1/models")).object.get("models")
        if isinstance(newer, list):
            read_newer(facts, [e for e in newer if isinstance(e, dict)], model)
            return
        older = (await self.peek.get("/api/v0/models")).object.get("data")
        read_older(facts, [e for e in older or [] if isinstance(e, dict)], model)


def read_newer(facts: Facts, entries: list[dict[str, Any]], model: str) -> None:
    """An instance's id is what requests name; its config is what counts."""
    for entry in entries:
        instances = [i for i in entry.get("loaded_instances") or [] if isinstance(i, dict)]
        names = [str(i.get("id")) for i in instances]
        if model not in (*names, entry.get("key")):
            continue
        quantization = entry.get("quantization")
        if isinstance(quantization, dict):
            facts.quantization = str(quantization.get("name") or "")
        facts.size_bytes = whole(entry.get("size_bytes"))
        facts.file = str(entry.get("selected_variant") or entry.get("key") or "")
        facts.names = [*names, str(entry.get("key") or "")]
        facts.settings["format"] = entry.get("format")
        config = instances[0].get("config") if instances else None
        if isinstance(config, dict):
            facts.level = LOADED
            facts.context_total = whole(config.get("context_length"))
            facts.context_per_slot = facts.context_total
            facts.parallel = whole(config.get("parallel"))
            facts.settings["kv_unified"] = True
        return


def read_older(facts: Facts, entries: list[dict[str, Any]], model: str) -> None:
    for entry in entries:
        if entry.get("id") != model:
            continue
        facts.names = [model]
        facts.quantization = str(entry.get("quantization") or "")
        facts.context_per_slot = whole(entry.get("loaded_context_length"))
        facts.settings["format"] = entry.get("compatibility_type")
        if entry.get("state") == "loaded":
            facts.level = LOADED
        return
