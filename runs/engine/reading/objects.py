"""Reads the JSON objects of a body: OpenAI chunks and answers, Ollama's native ones, errors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from itertools import repeat
from typing import Any

from runs.engine.reading.banner import LoadingBanner
from runs.engine.reading.figures import read_figures, read_native
from runs.engine.reading.model import (
    Finish,
    Reading,
    StreamError,
    TokenChunk,
    TokenKind,
    ToolCall,
)

RAW_CHARS = 4096
REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
# A named tuple's own way in is a Python call, which costs as much as finding the text.
_TOKEN_CHUNK = partial(tuple.__new__, TokenChunk)
ERROR_FINISHES = ("error", "abort")


class ObjectReader:
    """Adds what each object says to the reading. Unknown shapes are passed over."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._banner = LoadingBanner()
        self._content: list[str] = []
        self._reasoning: list[str] = []

    def read(self, at_ns: int, value: dict[str, Any], event: str, raw: str) -> None:
        """One object, with the event's name if it had one."""
        tokens_before = len(self._reading.tokens)
        self._model(value)
        read_figures(self._reading, value)
        is_error = self.read_error(at_ns, value, raw, event=event)
        choices = value.get("choices")
        if isinstance(choices, list):
            for choice in choices:
                if isinstance(choice, dict) and not choice.get("index"):
                    self._choice(at_ns, choice, raw, is_error=is_error)
        elif isinstance(value.get("message"), dict) or "done" in value:
            self._native(at_ns, value)
        if len(self._reading.tokens) > tokens_before:
            self._reading.has_closing_usage = False
            if not tokens_before:
                self._first_tokens(value)
        elif isinstance(value.get("usage"), dict):
            self._reading.has_closing_usage = True

    def say(self, kind: TokenKind, texts: list[str], blocks: Iterable[tuple[int, bytes]]) -> None:
        """As many more token chunks that say this and nothing else, each when its block came."""
        (self._content if kind is TokenKind.CONTENT else self._reasoning).extend(texts)
        arrivals_ns = [at_ns for at_ns, _ in blocks]
        rows = zip(arrivals_ns, repeat(kind), map(len, texts), strict=False)
        self._reading.tokens += map(_TOKEN_CHUNK, rows)
        self._reading.has_closing_usage = False

    def close(self) -> None:
        """Join the texts that were collected piece by piece."""
        self._reading.content = "".join(self._content)
        self._reading.reasoning = "".join(self._reasoning)

    def tail(self, chars: int) -> str:
        """The end of the answer so far; of the reasoning while there is no answer."""
        pieces, length = self._content or self._reasoning, 0
        kept: list[str] = []
        for piece in reversed(pieces):
            kept.append(piece)
            length += len(piece)
            if length >= chars:
                break
        return "".join(reversed(kept))[-chars:]

    def read_error(
        self,
        at_ns: int,
        value: dict[str, Any],
        raw: str,
        *,
        event: str = "",
        was_event: bool = True,
    ) -> bool:
        """Record an error object; False when this is none."""
        error = value.get("error")
        if not error and event == "error":
            error = value
        if not error and (value.get("object") == "error" or value.get("type") == "error"):
            error = value
        if not error and "choices" not in value and isinstance(value.get("detail"), str | list):
            error = value["detail"]
        if not error:
            return False
        message, code = _error_text(error)
        self.add_error(at_ns, message, code, raw, was_event=was_event)
        return True

    def add_error(
        self, at_ns: int, message: str, code: str, raw: str, *, was_event: bool = True
    ) -> None:
        self._reading.errors.append(
            StreamError(at_ns, message, code, raw[:RAW_CHARS], was_event=was_event)
        )

    # --- OpenAI ---

    def _choice(self, at_ns: int, choice: dict[str, Any], raw: str, *, is_error: bool) -> None:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
        before = len(self._reading.tokens)
        if isinstance(delta, dict):
            self._delta(at_ns, delta)
        if isinstance(choice.get("text"), str):
            self._content_piece(at_ns, choice["text"])
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish(at_ns, reason)
            if reason in ERROR_FINISHES and not is_error:
                self.add_error(at_ns, f"finish reason {reason}", reason, raw)
        elif len(self._reading.tokens) == before:
            self._reading.empty_deltas += 1

    def _delta(self, at_ns: int, delta: dict[str, Any]) -> None:
        thought = next((delta[key] for key in REASONING_KEYS if _is_text(delta.get(key))), "")
        if thought and not self._is_banner(thought):
            self._reasoning.append(thought)
            self._token(at_ns, TokenKind.REASONING, len(thought))
        self._content_piece(at_ns, _content_text(delta.get("content")))
        if _is_text(delta.get("refusal")):
            self._content_piece(at_ns, delta["refusal"])
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for position, call in enumerate(calls):
                if isinstance(call, dict):
                    self._tool(at_ns, position, call)
        elif isinstance(delta.get("function_call"), dict):
            self._tool(at_ns, 0, {"function": delta["function_call"]})

    def _content_piece(self, at_ns: int, text: str) -> None:
        if text:
            self._content.append(text)
            self._token(at_ns, TokenKind.CONTENT, len(text))

    def _is_banner(self, text: str) -> bool:
        """A gateway's loading report is no token of the model."""
        if self._reading.tokens or not self._banner.holds(text):
            return False
        self._reading.loading_lines += 1
        return True

    # --- tool calls ---

    def _tool(self, at_ns: int, position: int, call: dict[str, Any]) -> None:
        """A fragment: the first one names the call, later ones add to its arguments."""
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        name = str(function["name"]) if _is_text(function.get("name")) else ""
        known = self._known_call(call, position, name)
        arguments = function.get("arguments")
        if isinstance(call.get("id"), str):
            known.id = known.id or call["id"]
        if name and name != known.name:  # some servers repeat the name with every fragment
            known.name += name
        text = _arguments_text(arguments)
        if text:
            known.arguments += text
            known.has_arguments = True
            known.is_object = known.is_object or isinstance(arguments, dict)
        if name or text:
            self._token(at_ns, TokenKind.TOOL, len(text) or len(name))

    def _known_call(self, call: dict[str, Any], position: int, name: str) -> ToolCall:
        """The call that a fragment belongs to. A new name under a new id is another call, even
        where the server reuses the index."""
        given, calls = call.get("index"), self._reading.tool_calls
        index = given if isinstance(given, int) else position
        known = next((c for c in reversed(calls) if c.index == index), None)
        another = False
        if known is not None and name and known.id:
            another = call.get("id") not in (None, "", known.id)
        if known is None or another:
            known = ToolCall(index, shares_index=another)
            calls.append(known)
        return known

    # --- Ollama's native API ---

    def _native(self, at_ns: int, value: dict[str, Any]) -> None:
        message = value.get("message")
        if isinstance(message, dict):
            self._delta(at_ns, message)
        elif _is_text(value.get("response")):
            self._content_piece(at_ns, value["response"])
        if value.get("done") is True:
            self._reading.done_ns = self._reading.done_ns or at_ns
            reason = value.get("done_reason")
            if isinstance(reason, str) and reason:
                self._finish(at_ns, reason)
            read_native(self._reading, value)

    # --- facts beside the text ---

    def _model(self, value: dict[str, Any]) -> None:
        name = value.get("model")
        is_fake = name == "keepalive" or value.get("created") == 0
        if _is_text(name) and not is_fake and name not in self._reading.models:
            self._reading.models.append(str(name)[:300])

    def _first_tokens(self, value: dict[str, Any]) -> None:
        """How many tokens the first chunk holds, where usage came with it."""
        usage = value.get("usage")
        count = usage.get("completion_tokens") if isinstance(usage, dict) else None
        if isinstance(count, int) and count > 0:
            self._reading.first_chunk_tokens = count

    def _finish(self, at_ns: int, reason: str) -> None:
        self._reading.finishes.append(Finish(at_ns, reason[:200], len(self._reading.tokens)))

    def _token(self, at_ns: int, kind: TokenKind, chars: int) -> None:
        self._reading.tokens.append(TokenChunk(at_ns, kind, chars))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _content_text(value: object) -> str:
    """Content as a string, or as a list of parts with text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _arguments_text(value: object) -> str:
    """Arguments as text; native APIs send an object instead."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return json.dumps(value)
    return ""


def _error_text(error: object) -> tuple[str, str]:
    """Message and code of an error in any of the shapes that runtimes use."""
    if isinstance(error, dict):
        message = error.get("message") or error.get("detail") or error.get("error") or error
        codes = [error.get(key) for key in ("type", "code", "status")]
        return str(message)[:1000], " ".join(str(c) for c in codes if c is not None)[:200]
    return str(error)[:1000], ""
