"""Gateways: what answers is not what infers. Qualify the server behind them directly."""

from __future__ import annotations

from runs.engine.runtimes.peek import Answer, Peek, PeekError

LITELLM, LLAMA_SWAP, NGINX = "LiteLLM", "llama-swap", "nginx"

GATEWAY_WARNINGS = {
    LITELLM: (
        "LiteLLM rewrites the model name, may retry, fall back or answer from its cache, and its "
        "/health runs real completions: register the server behind it as the direct layer."
    ),
    LLAMA_SWAP: (
        "llama-swap starts and stops models by name and may change parameters on the way: "
        "register the server behind it as the direct layer."
    ),
    NGINX: "nginx stands in front: it may buffer, and errors become web pages.",
}


async def recognise_gateway(peek: Peek, listing: Answer) -> str:
    """The gateway's name, or empty. Asks only what costs nothing; raises nothing."""
    if any(name.lower().startswith("x-litellm-") for name in listing.headers):
        return LITELLM
    for path, test, name in (
        ("/health/liveliness", says_alive, LITELLM),
        ("/running", lists_running, LLAMA_SWAP),
    ):
        try:
            if test(await peek.get(path)):
                return name
        except PeekError:
            continue
    return NGINX if listing.headers.get("server", "").startswith("nginx") else ""


def says_alive(answer: Answer) -> bool:
    return bool(answer.json == "I'm alive!")


def lists_running(answer: Answer) -> bool:
    running = answer.object.get("running")
    return isinstance(running, list) and all(
        isinstance(entry, dict) and "state" in entry for entry in running
    )


def answered_by_somebody_else(headers: dict[str, str]) -> str:
    """Why an answer through a gateway proves nothing: a cache hit or a fallback; else empty."""
    lower = {name.lower(): value for name, value in headers.items()}
    if lower.get("x-litellm-cache-hit", "").lower() == "true" or "x-litellm-cache-key" in lower:
        return "The gateway answered from its cache."
    fallbacks = lower.get("x-litellm-attempted-fallbacks", "0")
    if fallbacks not in ("", "0"):
        return f"The gateway fell back to another deployment ({fallbacks} attempts)."
    return ""


def tried_again(headers: dict[str, str]) -> str:
    """The gateway asked more than once: its time is not that of one answer; else empty."""
    lower = {name.lower(): value for name, value in headers.items()}
    retries = lower.get("x-litellm-attempted-retries", "0")
    return f"The gateway tried again ({retries} retries)." if retries not in ("", "0") else ""
