"""llama.cpp's `llama-server`, also as the wheel xllamacpp."""

from __future__ import annotations

from typing import Any

from runs.engine.judge import Contract
from runs.engine.runtimes.base import (
    ARTIFACT,
    DOWN,
    LOADING,
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

# Variables by which chat templates switch thinking.
THINKING = ("enable_thinking", "reasoning_effort", "thinking")
COUNTERS = {
    "llamacpp:prompt_tokens_total": "prompt_tokens",
    "llamacpp:prompt_tokens_cached_total": "prompt_tokens_cached",
    "llamacpp:prompt_seconds_total": "prompt_seconds",
    "llamacpp:tokens_predicted_total": "completion_tokens",
    "llamacpp:tokens_predicted_seconds_total": "completion_seconds",
}


def kv_usage(slots: list[Any]) -> float | None:
    """Share of all slots' context that prompts and answers fill; None where a slot tells none."""
    context = used = 0
    for slot in slots:
        told = slot if isinstance(slot, dict) else {}
        context += whole(told.get("n_ctx")) or 0
        used += whole(told.get("n_prompt_tokens")) or 0
        following = told.get("next_token")
        following = following[0] if isinstance(following, list) and following else following
        used += whole(following.get("n_decoded")) or 0 if isinstance(following, dict) else 0
    return min(used / context, 1.0) if context else None


class LlamaCpp(Adapter):
    key = "llama.cpp"
    title = "llama.cpp server"
    proven_against = "a real server (xllamacpp 2026.10), and recorded answers of llama-server"
    traps = (
        "Any model name is accepted: only the loaded file tells which model answers.",
        "The prompt cache lives in host memory, up to 8 GiB unless it is limited.",
    )
    contract = Contract(cached_tokens=True)
    reports_load = True
    # A dropped request is noticed only after a second in which the server did nothing else.
    poll_pause_s = 2.5
    capabilities = ("chat", "tokenize")

    async def health(self) -> Health:
        """503 with `Loading model` on every route until the model is loaded."""
        try:
            answer = await self.peek.get("/health")
        except PeekError as error:
            return down(error)
        if answer.status == 503:
            return Health(LOADING, "The server is loading its model (503 Loading model).")
        if answer.ok:
            return Health(READY, "The server says that it is ready.")
        return Health(DOWN, f"/health answered {answer.status}.")

    def read_models(self, facts: Facts, entries: list[dict[str, Any]], model: str) -> None:
        """One entry with `meta`: sizes, parameters, context per slot."""
        entry = next(iter(entries), {})
        meta = entry.get("meta")
        meta = meta if isinstance(meta, dict) else {}
        aliases = entry.get("aliases")
        facts.names = [str(a) for a in aliases] if isinstance(aliases, list) else []
        facts.names = facts.names or facts.models[:1]
        facts.size_bytes = whole(meta.get("size"))
        facts.n_params = whole(meta.get("n_params"))
        facts.quantization = str(meta.get("ftype") or "")
        facts.context_per_slot = whole(meta.get("n_ctx"))
        facts.settings["context_trained"] = whole(meta.get("n_ctx_train"))

    async def enrich(self, facts: Facts, model: str) -> None:
        """`/props` names the true file. Unified KV shows as slots that each have the pool."""
        answer = await self.peek.get("/props")
        props = answer.object if answer.ok else {}
        if props.get("model_path") not in (None, "", "none"):
            facts.file, facts.level = str(props["model_path"]), ARTIFACT
        facts.version = str(props.get("build_info") or "")
        facts.quantization = str(props.get("model_ftype") or facts.quantization)
        facts.parallel = whole(props.get("total_slots"))
        defaults = props.get("default_generation_settings")
        if isinstance(defaults, dict):
            facts.context_per_slot = whole(defaults.get("n_ctx")) or facts.context_per_slot
        if facts.parallel and facts.context_per_slot:
            facts.context_total = facts.parallel * facts.context_per_slot
        caps = props.get("chat_template_caps")
        if isinstance(caps, dict) and caps.get("supports_tools"):
            facts.capabilities.append("tools")
        template = props.get("chat_template")
        if isinstance(template, str):
            facts.settings["thinking_switch"] = any(word in template for word in THINKING)
        for name in ("endpoint_slots", "endpoint_metrics", "is_sleeping", "modalities"):
            if name in props:
                facts.settings[name] = props[name]
        if props.get("role") == "router":
            facts.warnings.append("Router mode: the models run in child processes of their own.")

    async def load(self) -> Load:
        """From `/slots` and `/metrics`; each may be switched off (501)."""
        slots = (await self.peek.get("/slots")).json
        load = Load()
        if isinstance(slots, list):
            load.slots = len(slots)
            load.running = sum(1 for s in slots if isinstance(s, dict) and s.get("is_processing"))
            load.kv_usage_ratio = kv_usage(slots)
        answer = await self.peek.get("/metrics")
        if answer.ok:
            metrics = read_metrics(answer.text)
            load.waiting = whole(metrics.get("llamacpp:requests_deferred"))
            if load.running is None:
                load.running = whole(metrics.get("llamacpp:requests_processing"))
            load.counters = {n: metrics[m] for m, n in COUNTERS.items() if m in metrics}
        return load

    async def count_tokens(self, messages: list[dict[str, Any]], model: str) -> int | None:
        """Rendered by the server's own template, then counted by its own tokenizer."""
        rendered = (await self.peek.post("/apply-template", {"messages": messages})).object
        prompt = rendered.get("prompt")
        if not isinstance(prompt, str):
            return None
        body = {"content": prompt, "add_special": True, "parse_special": True}
        tokens = (await self.peek.post("/tokenize", body)).object.get("tokens")
        return len(tokens) if isinstance(tokens, list) else None
