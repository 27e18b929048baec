"""MTPLX: one large `/health` object; speculative decoding on MLX."""

from __future__ import annotations

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

SETTINGS = ("generation_mode", "mtp_enabled", "depth", "profile", "tokenizer_template_hash")
STARTING = ("starting", "loading", "warming", "running", "pending")


class Mtplx(Adapter):
    key = "mtplx"
    title = "MTPLX"
    proven_against = "replayed answers, written after MTPLX 2.12's source"
    traps = (
        "Its session cache on disk survives a restart: a restart is no cold start.",
        "Requests are served one at a time unless batching is switched on.",
        "Unknown model names are answered by the loaded model.",
        "With the MTP head missing or off it is another deployment.",
        "A footer with statistics may be added to the answer.",
    )
    contract = Contract(cached_tokens=True)
    reports_load = True
    capabilities = ("chat", "tools")

    async def health(self) -> Health:
        """`ok` is always true; the start-up and degradation objects count."""
        try:
            health = (await self.peek.get("/health")).object
        except PeekError as error:
            return down(error)
        for part in ("startup", "warmup"):
            state = health.get(part)
            if isinstance(state, dict) and state.get("status", state.get("state")) in STARTING:
                return Health(LOADING, f"The server is in its {part}.")
        degraded = health.get("degradation")
        if isinstance(degraded, dict) and degraded.get("active"):
            return Health(READY, "The server answers, but reports that it is degraded.")
        return Health(READY, "The server answers.")

    async def enrich(self, facts: Facts, model: str) -> None:
        health = (await self.peek.get("/health")).object
        facts.version = str(health.get("version") or "")
        facts.names = [str(health["model"])] if health.get("model") else []
        facts.context_per_slot = whole(health.get("context_window"))
        facts.settings.update({k: health[k] for k in SETTINGS if k in health})
        if health.get("model_path"):
            facts.file, facts.level = str(health["model_path"]), ARTIFACT

    async def load(self) -> Load:
        health = (await self.peek.get("/health")).object
        scheduler = health.get("scheduler")
        waiting = scheduler.get("waiting") if isinstance(scheduler, dict) else None
        return Load(running=whole(health.get("active_requests")), waiting=whole(waiting))
