"""Ollama: the OpenAI routes under `/v1`, and its own under `/api` (NDJSON streams)."""

from __future__ import annotations

from typing import Any

from runs.engine.judge import Contract
from runs.engine.runtimes.base import (
    ARTIFACT,
    DOWN,
    READY,
    Adapter,
    Ask,
    Facts,
    Health,
    Load,
    down,
    whole,
)
from runs.engine.runtimes.peek import PeekError


class Ollama(Adapter):
    key = "ollama"
    title = "Ollama"
    proven_against = "replayed answers, written after Ollama 0.33's source"
    traps = (
        "The context defaults to 4,096 tokens on small machines and cannot be set through /v1.",
        "A prompt that is too long is cut without notice.",
        "The model is unloaded after five idle minutes: the next first token includes a load.",
        "A tag such as latest can move: only the digest names the model.",
    )
    contract = Contract(long_context_truncates=True)
    reports_memory = True
    capabilities = ("chat", "embeddings")

    async def health(self) -> Health:
        """The daemon answers without any model; a model loads on its first request."""
        try:
            answer = await self.peek.get("/api/version")
        except PeekError as error:
            return down(error)
        if answer.ok:
            return Health(READY, "The server answers; models load on their first request.")
        return Health(DOWN, f"/api/version answered {answer.status}.")

    async def enrich(self, facts: Facts, model: str) -> None:
        """`/api/ps` has what is resident, by digest; `/api/tags` what is installed."""
        facts.version = str((await self.peek.get("/api/version")).object.get("version") or "")
        installed = pick((await self.peek.get("/api/tags")).object, model)
        resident = pick((await self.peek.get("/api/ps")).object, model)
        entry = resident or installed
        details = entry.get("details")
        details = details if isinstance(details, dict) else {}
        facts.digest = str(entry.get("digest") or "").removeprefix("sha256:")
        facts.names = [str(entry[k]) for k in ("name", "model") if entry.get(k)]
        facts.quantization = str(details.get("quantization_level") or "")
        facts.size_bytes = whole(entry.get("size"))
        facts.context_per_slot = whole(resident.get("context_length"))
        facts.settings["parameter_size"] = details.get("parameter_size")
        if resident:
            facts.level = ARTIFACT
        else:
            facts.warnings.append("The model is not loaded now: its first answer includes a load.")
        if installed.get("remote_host"):
            facts.warnings.append("This name is a cloud model: it does not run on this machine.")

    async def load(self) -> Load:
        """Only the size of what is resident, as `/api/ps` estimates it (often wrong)."""
        models = (await self.peek.get("/api/ps")).object.get("models")
        entries = models if isinstance(models, list) else []
        sizes = [whole(e.get("size")) for e in entries if isinstance(e, dict)]
        return Load(memory_bytes=sum(size or 0 for size in sizes) if sizes else None)


class OllamaNative(Ollama):
    """The same server through `/api/chat`, for a base URL that ends with `/api`."""

    contract = Contract(done=False, framing="ndjson", long_context_truncates=True)
    embeddings_path = ""

    def chat(self, ask: Ask, model: str) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {"model": model, "messages": ask.messages, "stream": ask.stream}
        if ask.sampling:
            body["options"] = dict(ask.sampling)
        if ask.tools:
            body["tools"] = ask.tools
        if ask.schema is not None or ask.json_object:
            body["format"] = ask.schema if ask.schema is not None else "json"
        if ask.thinking is not None:
            body["think"] = ask.thinking
        return "/chat", body


def pick(listing: dict[str, Any], model: str) -> dict[str, Any]:
    """The entry of a model; a name without a tag means `latest`."""
    wanted = model if ":" in model else f"{model}:latest"
    models = listing.get("models")
    for entry in models if isinstance(models, list) else []:
        if isinstance(entry, dict) and wanted in (entry.get("name"), entry.get("model")):
            return entry
    return {}
