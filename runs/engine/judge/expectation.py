"""What a request should bring, and what its runtime promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a check wants to see. Empty fields ask for nothing."""

    kind: str = "chat"  # chat | embeddings | rerank
    marker: str = ""  # the answer must begin or end with it
    contains: str = ""  # the answer must hold it: a needle, a number
    schema: dict[str, Any] | None = None  # JSON Schema of the answer
    tool: str = ""  # name of the function that must be called
    tool_schema: dict[str, Any] | None = None  # JSON Schema of its arguments
    tool_choice_named: bool = False  # then `stop` is the right finish reason
    prompt_tokens: int | None = None  # known size of the prompt
    names: tuple[str, ...] = ()  # acceptable in `model`; empty: not judged here
    count: int | None = None  # vectors or results due
    dimension: int | None = None  # of each vector
    top_index: int | None = None  # the document that must score highest
    min_decode_tps: float | None = None  # slower is too slow for the role
    encoding: str = "float"  # of embeddings: float | base64
    cancelled_by_check: bool = False  # the check itself closed the connection

    def in_words(self) -> str:
        """One sentence for pages."""
        parts = []
        if self.marker:
            parts.append(f"the text {self.marker} alone")
        if self.contains:
            parts.append(f"an answer with {self.contains}")
        if self.schema is not None:
            parts.append("JSON that fits the schema")
        if self.tool:
            parts.append(f"a call of {self.tool}")
        if self.kind == "embeddings":
            parts.append(f"{self.count or 'some'} vectors")
        if self.kind == "rerank":
            parts.append(f"{self.count or 'some'} scored documents")
        return " and ".join(parts) or "any finished answer"


@dataclass(frozen=True, slots=True)
class Contract:
    """What the runtime promises for a chat. Absence of what is not promised is no finding."""

    done: bool = True  # [DONE] ends a stream
    usage: bool = True  # usage comes when include_usage asks for it
    finish_reason: bool = True
    cached_tokens: bool = False
    framing: str = "sse"  # of a stream: sse | ndjson
    long_context_truncates: bool = False
