"""What was read: facts with their arrival (ns on the engine's clock), no judgement."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Framing(StrEnum):
    """What the body turned out to be, whatever was asked for."""

    NONE = "none"  # nothing arrived
    SSE = "sse"
    NDJSON = "ndjson"
    JSON = "json"
    TEXT = "text"  # a page, a plain line, or JSON that cannot be read


class TokenKind(StrEnum):
    REASONING = "reasoning"
    CONTENT = "content"
    TOOL = "tool"


class TokenChunk(NamedTuple):
    """A delta that carries text. One chunk may hold several tokens."""

    at_ns: int
    kind: TokenKind
    chars: int


@dataclass(frozen=True, slots=True)
class Finish:
    """A finish reason, and how many token chunks had come by then."""

    at_ns: int
    reason: str
    after_tokens: int


@dataclass(frozen=True, slots=True)
class StreamError:
    """An error object or an error line inside the body."""

    at_ns: int
    message: str
    code: str
    raw: str
    was_event: bool = True  # False: a stray line of a stream, outside any event


@dataclass(frozen=True, slots=True)
class Fault:
    """A piece that could not be read."""

    at_ns: int
    raw: str
    why: str


@dataclass(slots=True)
class ToolCall:
    """One tool call, assembled from its fragments. `has_arguments`: any fragment carried some."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    has_arguments: bool = False
    is_object: bool = False  # arguments came as an object instead of as text
    shares_index: bool = False  # another call came under the same index

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "arguments": self.arguments}


@dataclass(slots=True)
class Reading:
    """The body, read. Lists are in order of arrival; offsets are absolute ns."""

    framing: Framing = Framing.NONE
    content_type: str = ""
    tokens: list[TokenChunk] = field(default_factory=list)
    content: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list)
    finishes: list[Finish] = field(default_factory=list)
    usages: list[dict[str, Any]] = field(default_factory=list)
    has_closing_usage: bool = False  # usage came after the last token, in an event of its own
    server: dict[str, float] = field(default_factory=dict)  # server-reported figures
    progress: list[tuple[int, int]] = field(default_factory=list)  # prefill: (read, of) tokens
    models: list[str] = field(default_factory=list)  # distinct, in order of appearance
    errors: list[StreamError] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    cut_piece: str = ""  # what was still unfinished when the body ended
    loading_lines: int = 0  # a gateway's own words while it loads the model: no tokens
    first_chunk_tokens: int | None = None  # where usage came with the first token chunk
    json_body: Any = None  # of an unstreamed answer
    text: str = ""  # bounded copy of the body's start, for excerpts
    text_tail: str = ""  # bounded copy of its end
    body_bytes: int = 0
    events: int = 0
    comments: int = 0
    empty_deltas: int = 0
    events_after_done: int = 0
    first_byte_ns: int | None = None
    first_event_ns: int | None = None
    last_byte_ns: int | None = None
    done_ns: int | None = None
    leading_blanks: int = 0  # of an unstreamed body: keep-alive spaces
    ends_unterminated: bool = False
    is_oversized: bool = False

    @property
    def done_seen(self) -> bool:
        return self.done_ns is not None

    @property
    def usage(self) -> dict[str, Any]:
        """The last usage object: cumulative ones grow, so they are never summed."""
        return self.usages[-1] if self.usages else {}

    @property
    def finish_reason(self) -> str | None:
        """The last finish reason: an early one that text follows contradicts itself."""
        return self.finishes[-1].reason if self.finishes else None

    @property
    def is_answer(self) -> bool:
        """A JSON body has the parts of a chat answer, even if they say nothing."""
        body = self.json_body
        keys = ("choices", "message", "response", "error")
        return isinstance(body, dict) and any(key in body for key in keys)

    @property
    def has_output(self) -> bool:
        return bool(self.tokens)

    def first_ns(self, kind: TokenKind | None = None) -> int | None:
        """Arrival of the first token chunk (of that kind)."""
        return next((t.at_ns for t in self.tokens if kind is None or t.kind is kind), None)
