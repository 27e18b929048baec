"""What an error says, whatever its shape: status, code and words to a failure class.

Servers name the same trouble in many ways; these are kinds of wording, not texts of one runtime.
"""

from __future__ import annotations

import re

POOLING_KINDS = ("embeddings", "rerank")

# Order matters: the first that matches names the class. A hint such as "reduce context length" in
# a memory refusal, or Go's "context canceled", must not make it a context overflow.
# What a loader says comes first: it lists names of weights, and these may hold any word.
WORDS: tuple[tuple[str, str], ...] = (
    (
        "init_failed",
        r"parameters? not in (the )?model|missing \d+ parameters|missing parameters:\s*\w+\.\w"
        r"|expected shape\b.{0,80}\b(received|got) shape|shape mismatch|size mismatch for \w"
        r"|no (module or )?parameter named|weights? for .{0,80}not found"
        r"|missing tensor|tensor.{0,40}(mismatch|wrong shape|not found)|wrong number of tensors"
        r"|shapes? of the weight|same size as the last dimension"
        r"|(bad|invalid|read|wrong) (gguf )?magic|invalid ggml type"
        r"|waiting for (the )?(llama )?runner to start",
    ),
    (
        "memory_guard",
        r"memory(?! slot| access| address)|\boom\b|(failed|unable) to allocate|malloc"
        r"|(cuda|metal|ggml).{0,30}alloc"
        r"|\b\d[\d.]* ?gi?b\b.{0,60}(over|above|exceed|ceiling|limit|only)",
    ),
    ("gateway_timeout", r"context deadline exceeded|time.?d? ?out|deadline exceeded"),
    ("truncated_stream", r"context cancel+ed"),
    (
        "context_rejected",
        r"exceed_context|context_length|n_ctx|maximum context|context.{0,12}shift"
        r"|context.{0,40}(exceed|length|size|window|overflow|limit|full|exhaust|used up|too)"
        r"|exceed.{0,30}context|\bwindow is \d|tokens.{0,60}(exceed|limit|maximum|window)"
        r"|(prompt|input).{0,40}(too (long|large)|exceed)|message.{0,20}too long|too many tokens"
        r"|kv.?(cache|slot).{0,40}(full|ex|no |out of|not)|(no|space|room|slot).{0,20}kv.?cache"
        r"|memory slot",
    ),
    (
        "model_not_found",
        r"model_not_found|(model|repositor\w*|repo)\b.{0,120}"
        r"(not (be )?(found|exist|available|recognized)|does ?n.t exist|no such|not served)"
        r"|(no such|unknown|invalid|find|not found:?) (the )?model\b(?! arch)"
        r"|(no|not a valid) model (id|name)"
        r"|not found on the hub|cached snapshot|pull(ing)? it first",
    ),
    (
        "init_failed",
        r"(fail|unable|could not|cannot|(?<!_)error)[^0-9]{0,20} load.{0,20}model"
        r"|model.{0,60}(fail\w* to load|load(ing)? (has )?failed|could not be loaded)"
        r"|unknown.{0,20}architecture"
        r"|(un|not )support.{0,20}(architecture|quanti[sz]ation|model type)"
        r"|(model type|architecture).{0,60}not supported"
        r"|(engine|runner|model|backend|llama server).{0,24}initiali[sz]ation failed"
        r"|(error|failed|timed out|unable).{0,30}(start|initiali[sz]).{0,24}(runner|engine|model)"
        r"|(error|failed|timed out|unable).{0,30}(runner|engine|model|llama server) to start"
        r"|(error|failed|unable).{0,4} start(ing)? (the )?llama server",
    ),
    (
        "loading",
        r"(loading|load).{0,12}model.{0,20}(progress|wait|\.\.\.|$)|model is (being )?load"
        r"|(still|is|being|currently) loading|warming up|not (yet )?ready",
    ),
    (
        "process_crash",
        r"(runner|process|engine|worker|upstream|server|backend|subprocess|child).{0,40}"
        r"(terminat|crash|died|stopped|exited|is dead|no longer running|killed|gone)"
        r"|signal: ?\w|segmentation fault|segfault|core dumped|broken pipe|exit (status|code) \d"
        r"|connection (was )?refused|unable to reach upstream|: eof$|^eof$"
        r"|enginedead|enginecore encountered",
    ),
    (
        "queue_full",
        r"queue.{0,20}(full|limit|exceed)|too many (pending|queued|waiting)"
        r"|(max\w*|pending).{0,20}(pending|queue|requests).{0,20}(exceed|reached)"
        r"|(server|system|all slots?).{0,12}(busy|overloaded)|no (free |available )?slots?\b",
    ),
    ("rate_limited", r"rate.?limit|too many (requests|concurrent)|quota"),
    ("auth_failed", r"unauthori[sz]ed|(invalid|missing|incorrect|wrong).{0,12}(api.?key|token)"),
    (
        "tool_call_invalid",
        r"(pars|invalid|malformed|fail|decod).{0,40}(tool|function).?call"
        r"|(tool|function).?(call|arg).{0,60}(pars|invalid|malformed|fail|decod)|peg.?parser"
        r"|does not match the expected.{0,20}format",
    ),
    ("truncated_stream", r"cancel+ed|abort|connection (was )?(lost|closed|reset)|disconnect"),
)
PATTERNS = tuple((name, re.compile(words, re.IGNORECASE | re.DOTALL)) for name, words in WORDS)
PARSE_FAULT = re.compile(r"\bpars(e|ing|er)\b|unparsed", re.IGNORECASE)
NOT_A_NUMBER = re.compile(
    r"\bnan\b|non-?finite|not finite|\binf(inity)?\b|not a number", re.IGNORECASE
)

BY_STATUS = {
    401: "auth_failed",
    403: "auth_failed",
    407: "auth_failed",
    408: "gateway_timeout",
    504: "gateway_timeout",
    507: "memory_guard",
    522: "gateway_timeout",
    524: "gateway_timeout",
}
ALWAYS = ("memory_guard", "context_rejected", "model_not_found", "init_failed")
# (from this status, classes that its words may tell besides, what it is otherwise)
REFINED: tuple[tuple[int, tuple[str, ...], str], ...] = (
    (505, (), "http_5xx"),
    (503, ("loading", "queue_full", "rate_limited", "process_crash"), "http_5xx"),
    (502, ("process_crash", "gateway_timeout", "loading"), "http_5xx"),
    (500, ("process_crash", "gateway_timeout", "tool_call_invalid", "loading"), "http_5xx"),
    (429, ("queue_full",), "rate_limited"),
    (405, ("tool_call_invalid",), "http_4xx"),
    (404, ("process_crash", "tool_call_invalid"), "http_4xx"),
    (400, ("auth_failed", "queue_full", "rate_limited", "process_crash"), "http_4xx"),
)


def class_of_words(text: str, *, kind: str = "chat", has_tools: bool = False) -> str:
    """The class that an error's code and message tell; empty when they tell none.

    `has_tools`: tools were offered, so a parser that fails is the one of their calls.
    """
    if kind in POOLING_KINDS and NOT_A_NUMBER.search(text):
        return "pooling_invalid"
    told = next((name for name, pattern in PATTERNS if pattern.search(text)), "")
    if not told and has_tools and PARSE_FAULT.search(text):
        return "tool_call_invalid"
    return told


def class_of_status(status: int, text: str, *, kind: str = "chat", has_tools: bool = False) -> str:
    """The class of an HTTP error by its status, refined by its words."""
    if status in BY_STATUS:
        return BY_STATUS[status]
    told = class_of_words(text, kind=kind, has_tools=has_tools)
    if told == "pooling_invalid":
        return told
    for floor, believed, otherwise in REFINED:
        if status >= floor:
            return told if told in (*ALWAYS, *believed) else otherwise
    return "http_4xx"
