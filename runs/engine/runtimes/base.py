"""What every runtime adapter can be asked. The base is the generic OpenAI-compatible server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from runs.engine.judge import Contract
from runs.engine.runtimes.peek import Peek, PeekError

READY, LOADING, DOWN = "ready", "loading", "down"

# Levels of the identity ladder, from what was typed in to how the model behaves.
TYPED, ECHOED, LISTED, LOADED, ARTIFACT, PROCESS, BEHAVIOUR = range(7)


@dataclass(frozen=True, slots=True)
class Health:
    """`state` is ready, loading or down. Ready is what the server claims, not that it infers."""

    state: str
    sentence: str
    kind: str = ""  # of the PeekError, where there was no answer at all


def down(error: PeekError) -> Health:
    return Health(DOWN, str(error), error.kind)


@dataclass(slots=True)
class Load:
    """How busy the server is. None where the runtime does not tell; counters only ever grow."""

    slots: int | None = None
    running: int | None = None
    waiting: int | None = None
    counters: dict[str, float] = field(default_factory=dict)
    kv_usage_ratio: float | None = None  # of the KV cache, 0 to 1
    memory_bytes: int | None = None  # as the server reports it: not measured by us


@dataclass(slots=True)
class Facts:
    """What a server says about itself. Empty or None means that it did not tell."""

    level: int = TYPED
    version: str = ""
    models: list[str] = field(default_factory=list)  # listed: maybe only installed
    names: list[str] = field(default_factory=list)  # the loaded model answers to these
    file: str = ""  # path, folder or repository of the loaded model
    digest: str = ""
    quantization: str = ""
    size_bytes: int | None = None
    n_params: int | None = None
    parallel: int | None = None
    context_per_slot: int | None = None
    context_total: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    capabilities: list[str] = field(default_factory=list)
    not_learned: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ask:
    """A chat request in the words of no runtime. `thinking` None leaves it to the server."""

    messages: list[dict[str, Any]]
    stream: bool = True
    sampling: dict[str, float] = field(default_factory=dict)
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: str = ""
    schema: dict[str, Any] | None = None
    json_object: bool = False
    thinking: bool | None = None


class Adapter:
    """Knows one runtime. Stateless but for the `Peek` it asks through."""

    key: ClassVar[str] = "openai"
    title: ClassVar[str] = "OpenAI-compatible server"
    proven_against: ClassVar[str] = "a llama.cpp server used without its own endpoints"
    traps: ClassVar[tuple[str, ...]] = (
        "A compatible server may limit output, context or parallel requests without saying so.",
    )
    contract: ClassVar[Contract] = Contract()
    takes_json_object: ClassVar[bool] = True
    reports_load: ClassVar[bool] = False
    reports_memory: ClassVar[bool] = False  # in `load`, even where nothing else is told
    poll_pause_s: ClassVar[float] = 0.25  # looking more often would disturb the server
    embeddings_path: ClassVar[str] = "/embeddings"  # empty: not asked through this adapter
    rerank_path: ClassVar[str] = "/rerank"
    capabilities: ClassVar[tuple[str, ...]] = ("chat",)

    def __init__(self, peek: Peek) -> None:
        self.peek = peek

    async def health(self) -> Health:
        """Whether the server says it can work. Never raises."""
        try:
            answer = await self.peek.get("/v1/models")
        except PeekError as error:
            return down(error)
        if answer.status == 503 and "load" in answer.text.lower():
            return Health(LOADING, "The server is still loading (503).")
        return Health(READY, f"The server answers ({answer.status}).")

    async def describe(self, model: str) -> Facts:
        """Everything that the server tells about the model. Raises PeekError."""
        answer = await self.peek.get("/v1/models")
        entries = entries_of(answer.json)
        facts = Facts(models=[str(e["id"]) for e in entries if e.get("id")])
        facts.level = LISTED if model in facts.models else TYPED
        facts.capabilities = list(self.capabilities)
        facts.warnings = list(self.traps)
        self.read_models(facts, entries, model)
        await self.enrich(facts, model)
        facts.not_learned = not_learned(facts)
        return facts

    def read_models(self, facts: Facts, entries: list[dict[str, Any]], model: str) -> None:
        """What `/v1/models` says beyond names; vLLM and its like give the context."""
        for entry in entries:
            if entry.get("id") == model and isinstance(entry.get("max_model_len"), int):
                facts.context_per_slot = entry["max_model_len"]

    async def enrich(self, facts: Facts, model: str) -> None:
        """Add what the runtime's own endpoints tell. The generic server has none."""

    async def load(self) -> Load:
        """Running, waiting and counters, where the runtime reports them. Raises PeekError."""
        return Load()

    async def count_tokens(self, messages: list[dict[str, Any]], model: str) -> int | None:
        """Prompt tokens of a chat as the server will see it; None without a tokenizer."""
        return None

    def chat(self, ask: Ask, model: str) -> tuple[str, dict[str, Any]]:
        """Path and body of a chat request. Never a limit on the output."""
        body: dict[str, Any] = {"model": model, "messages": ask.messages, "stream": ask.stream}
        if ask.stream:
            body["stream_options"] = {"include_usage": True}
        body.update(ask.sampling)
        if ask.tools:
            body["tools"] = ask.tools
            body["tool_choice"] = ask.tool_choice or "auto"
        if ask.schema is not None:
            body["response_format"] = self.schema_format(ask.schema)
        elif ask.json_object:
            body["response_format"] = {"type": "json_object"}
        if ask.thinking is not None:
            body.update(self.thinking(ask.thinking))
        return "/chat/completions", body

    def schema_format(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        }

    def thinking(self, on: bool) -> dict[str, Any]:
        """Body keys that switch thinking; only tokens prove that they did."""
        return {"chat_template_kwargs": {"enable_thinking": on}}


def entries_of(decoded: Any) -> list[dict[str, Any]]:
    """The `data` of a model list, whatever else was sent."""
    data = decoded.get("data") if isinstance(decoded, dict) else None
    return [e for e in data if isinstance(e, dict)] if isinstance(data, list) else []


def whole(value: Any) -> int | None:
    """A count out of untrusted JSON; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and value >= 0 and value < 2**62 else None


def not_learned(facts: Facts) -> list[str]:
    """In words, what the server did not tell."""
    asked = {
        "version of the runtime": facts.version,
        "loaded model file": facts.file,
        "digest of the model": facts.digest,
        "quantization": facts.quantization,
        "size of the model": facts.size_bytes,
        "parallel slots": facts.parallel,
        "context per slot": facts.context_per_slot,
        "total context": facts.context_total,
    }
    return [what for what, value in asked.items() if not value]
