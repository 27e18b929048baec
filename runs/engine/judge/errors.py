"""What an error says, whatever its shape: status, code and words to a failure class."""

from __future__ import annotations

import re

# Order matters: the first that matches names the class. Each is a kind, not one runtime's text.
WORDS: tuple[tuple[str, str], ...] = (
    (
        "memory_guard",
        r"memory.?(guard|limit|pressure|exceeded)|out of memory|\boom\b|insufficient.?memory"
        r"|prefill_memory|not enough memory|memory to (load|run|process)",
    ),
    (
        "context_rejected",
        r"exceed.{0,20}context|context.{0,30}(exceed|length|size|window|overflow|too)"
        r"|prompt.{0,20}too (long|large)|maximum context|too many tokens"
        r"|kv.?cache.{0,20}(full|ex)",
    ),
    ("loading", r"loading model|model is loading|still loading|warming up"),
    (
        "process_crash",
        r"(runner|process|engine|worker|upstream|server|backend).{0,30}"
        r"(terminated|crashed|died|stopped|exited|is dead|no longer running|killed)"
        r"|signal: |segmentation fault|unable to reach upstream|enginedead|engine core",
    ),
    ("queue_full", r"queue.{0,20}(full|limit)|too many (pending|queued|waiting)|max.?queue|busy"),
    ("rate_limited", r"rate.?limit|too many (requests|concurrent)"),
    (
        "model_not_found",
        r"model.{0,80}(not found|does not exist|unknown|not exist|no such)"
        r"|(no such|unknown|invalid) model|model_not_found|repository not found"
        r"|(repository|repo).{0,120}not (be )?found|not found on|not a valid model",
    ),
    (
        "tool_call_invalid",
        r"(parse|pars|invalid|malformed|failed).{0,40}tool|tool.{0,60}(parse|pars|invalid|malformed)"
        r"|peg.?parser|does not match the expected.{0,20}format",
    ),
    ("truncated_stream", r"cancel+ed|aborted|connection (lost|closed|reset)|disconnected"),
)
PATTERNS = tuple((name, re.compile(words, re.IGNORECASE | re.DOTALL)) for name, words in WORDS)
BY_STATUS = {401: "auth_failed", 403: "auth_failed", 429: "rate_limited", 504: "gateway_timeout"}

# (from this status, classes that its words may tell, what it is otherwise)
REFINED = (
    (504, ("context_rejected", "memory_guard"), "http_5xx"),
    (503, ("loading", "queue_full", "memory_guard", "process_crash"), "http_5xx"),
    (502, ("context_rejected", "memory_guard", "process_crash"), "http_5xx"),  # a gateway's word
    (500, ("context_rejected", "memory_guard", "tool_call_invalid"), "http_5xx"),
    (405, ("context_rejected", "memory_guard"), "http_4xx"),
    (404, ("model_not_found",), "http_4xx"),
    (400, ("context_rejected", "memory_guard", "model_not_found"), "http_4xx"),
)
PARSE_FAULT = re.compile(r"\b(parse|parsing|parser)\b", re.IGNORECASE)
NOT_A_NUMBER = re.compile(r"\bnan\b|non-?finite|not finite|\binf(inity)?\b", re.IGNORECASE)


def class_of_words(text: str) -> str:
    """The class that an error's code and message tell; empty when they tell none."""
    return next((name for name, pattern in PATTERNS if pattern.search(text)), "")


def class_of_status(status: int, text: str) -> str:
    """The class of an HTTP error by its status, refined by its words."""
    told = class_of_words(text)
    if status in BY_STATUS:
        return BY_STATUS[status]
    if status == 507:
        return "memory_guard"
    for floor, believed, otherwise in REFINED:
        if status >= floor:
            return told if told in believed else otherwise
    return "http_4xx"
