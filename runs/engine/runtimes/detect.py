"""Which runtime is behind an address? Body shapes decide: never the port, never a status alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from runs.engine.runtimes import adapter_for
from runs.engine.runtimes.address import canonical, root_of
from runs.engine.runtimes.base import LOADING, Facts, entries_of
from runs.engine.runtimes.gateways import GATEWAY_WARNINGS, recognise_gateway
from runs.engine.runtimes.peek import Answer, Peek, PeekError, key_from, open_peek
from runs.engine.runtimes.processes import ProcessHint, find_process

OWNERS = {"llamacpp": "llama.cpp", "omlx": "omlx", "vllm": "vllm", "mtplx": "mtplx"}


class DiscoveryError(Exception):
    """The address gave nothing to register. The message says what, why and what to do.

    `kind` is a stable word where there was no usable answer at all: connect, tls, timeout ...
    """

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class StillLoading(DiscoveryError):
    """A model server, but not ready yet."""


@dataclass(slots=True)
class Discovery:
    """What an address turned out to be. Empty, None and `not_learned` are honest gaps."""

    base_url: str
    runtime: str = "openai"
    runtime_title: str = ""
    is_gateway: bool = False
    gateway: str = ""
    confidence: float = 0.0  # 0 to 1
    evidence: list[str] = field(default_factory=list)
    model: str = ""  # the name to send
    facts: Facts = field(default_factory=Facts)
    process: ProcessHint | None = None
    proven_against: str = ""
    warnings: list[str] = field(default_factory=list)
    not_learned: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Sign:
    """A runtime, how sure, and what was seen."""

    runtime: str
    confidence: float
    seen: str


async def discover(
    base_url: str, *, api_key_env: str = "", timeout_s: float = 5.0, model: str = ""
) -> Discovery:
    """Ask the address, by GET only, what it is. Raises DiscoveryError.

    `timeout_s` bounds each question. `model` chooses among several listed models.
    """
    try:
        base = canonical(base_url)
        async with open_peek(root_of(base), api_key_env, timeout_s) as peek:
            return await look(base, peek, api_key_env, model)
    except ValueError as error:
        raise DiscoveryError(str(error)) from error
    except PeekError as error:
        raise DiscoveryError(str(error), error.kind) from error


async def look(base: str, peek: Peek, api_key_env: str, model: str) -> Discovery:
    """The whole look around; raises PeekError or DiscoveryError."""
    listing = await peek.get("/v1/models")
    gateway = await recognise_gateway(peek, listing)
    sign = await recognise(peek, listing)
    refuse_unusable(listing, sign, peek.root, api_key_env)
    found = Discovery(base, gateway=gateway, is_gateway=bool(gateway))
    found.runtime, found.confidence = sign.runtime, sign.confidence
    found.evidence.append(sign.seen)
    if gateway:
        found.evidence.append(f"Answers as {gateway} does: a gateway stands in between.")
        found.warnings.append(GATEWAY_WARNINGS[gateway])
    adapter = adapter_for(sign.runtime, base, peek)
    health = await adapter.health()
    if health.state == LOADING:
        raise StillLoading(f"{peek.root}: {health.sentence} Try again when it is ready.")
    found.model = model or first_model(listing)
    found.facts = await adapter.describe(found.model)
    if not model and found.facts.names and found.model not in found.facts.names:
        found.model = found.facts.names[0]
    found.runtime_title, found.proven_against = adapter.title, adapter.proven_against
    found.process = await asyncio.to_thread(find_process, base)
    found.warnings += found.facts.warnings
    found.not_learned = found.facts.not_learned
    return found


def first_model(listing: Answer) -> str:
    return next((str(e["id"]) for e in entries_of(listing.json) if e.get("id")), "")


async def recognise(peek: Peek, listing: Answer) -> Sign:
    """The first decisive shape wins; a mere owner name is weaker; else the generic server."""
    for recogniser in (lm_studio, ollama, by_health, llama_cpp, vllm):
        try:
            sign = await recogniser(peek, listing)
        except PeekError:
            continue  # this question broke; the next may not
        if sign:
            return sign
    for entry in entries_of(listing.json):
        if runtime := OWNERS.get(str(entry.get("owned_by"))):
            return Sign(runtime, 0.6, f"/v1/models says owned by {entry['owned_by']}")
    if entries_of(listing.json):
        return Sign("openai", 0.4, "Lists models as OpenAI does, and nothing tells more.")
    return Sign("openai", 0.0, "No known runtime answers like this.")


async def lm_studio(peek: Peek, listing: Answer) -> Sign | None:
    if (await peek.get("/lmstudio-greeting")).object.get("lmstudio") is True:
        return Sign("lm-studio", 1.0, "Greets as LM Studio does.")
    return None


async def ollama(peek: Peek, listing: Answer) -> Sign | None:
    if (await peek.get("/")).text.strip() == "Ollama is running":
        return Sign("ollama", 1.0, "Says: Ollama is running.")
    return None


async def by_health(peek: Peek, listing: Answer) -> Sign | None:
    """oMLX, MTPLX and MLX-LM differ in the keys of `/health`."""
    answer = await peek.get("/health")
    health = answer.object
    if "engine_pool" in health:
        return Sign("omlx", 1.0, "/health has engine_pool, as oMLX does.")
    if "generation_mode" in health and "model_path" in health:
        return Sign("mtplx", 1.0, "/health has generation_mode and model_path, as MTPLX does.")
    if "model_loaded" in health or "residency_state" in health:
        return Sign("openai", 0.9, "/health looks like vllm-mlx: treated as a generic server.")
    server = answer.headers.get("server", "")
    if health == {"status": "ok"} and server.startswith("BaseHTTP/"):
        return Sign("mlx-lm", 0.9, f"/health is bare and the server is {server}, as in MLX-LM.")
    return None


async def llama_cpp(peek: Peek, listing: Answer) -> Sign | None:
    answer = await peek.get("/props")
    props, server = answer.object, answer.headers.get("server", "")
    if "build_info" in props and "total_slots" in props:
        return Sign("llama.cpp", 1.0, "/props has build_info and total_slots, as llama.cpp does.")
    if props.get("role") == "router":
        return Sign("llama.cpp", 1.0, "/props has the role router, as llama.cpp does.")
    if server == "llama.cpp" or "Loading model" in answer.text:
        return Sign("llama.cpp", 0.8, "The server calls itself llama.cpp.")
    return None


async def vllm(peek: Peek, listing: Answer) -> Sign | None:
    version = (await peek.get("/version")).object.get("version")
    health = await peek.get("/health")
    if not isinstance(version, str) or health.body or not health.ok:
        return None
    return Sign("vllm", 0.9, f"/version is {version[:40]} and /health is empty, as in vLLM.")


def refuse_unusable(listing: Answer, sign: Sign, root: str, api_key_env: str) -> None:
    """DiscoveryError for a key, a redirect, a page, or anything that lists no models."""
    if listing.status in (401, 403):
        raise DiscoveryError(refused_key(root, listing.status, api_key_env))
    if 300 <= listing.status < 400:
        raise DiscoveryError(
            f"{root} redirects to another address ({listing.status}). Redirects are not "
            "followed: give the final address."
        )
    if listing.is_page:
        raise DiscoveryError(
            f"{root} answered with a web page, not with JSON. This is probably a web interface "
            "or a proxy: give the address of the model server's API."
        )
    if sign.confidence == 0.0:
        raise DiscoveryError(
            f"{root} answers in HTTP ({listing.status} for /v1/models) but lists no models, "
            "so it does not look like a model server. Check host, port and path."
        )


def refused_key(root: str, status: int, api_key_env: str) -> str:
    if key_from(api_key_env):
        return (
            f"{root} refused the key in {api_key_env} ({status}). Put the right key into that "
            "variable and restart."
        )
    if api_key_env:
        return f"{root} wants a key ({status}), but the variable {api_key_env} is not set here."
    return (
        f"{root} wants a key ({status}). Put it into an environment variable of the worker "
        "and give the variable's name."
    )


def facts_as_dict(facts: Facts) -> dict[str, Any]:
    """The facts without what pages show apart, JSON-ready."""
    names = [n for n in facts.__slots__ if n not in ("warnings", "not_learned")]
    return {name: getattr(facts, name) for name in names}
