"""What happened: the raw exchange as it arrived, and the result read out of it.

All offsets are milliseconds from the moment the request was handed to the socket (`sent_ns`),
on one monotonic clock. A value that was not seen is None, never 0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from runs.engine.outcomes import Finding, Outcome


class Ending(StrEnum):
    """How the exchange ended on the wire, before any judgement."""

    COMPLETE = "complete"  # content-length reached or chunked terminator seen
    EOF = "eof"  # read-until-close body: a normal end and a crash look the same
    CLOSED_EARLY = "closed_early"  # closed inside a chunked or content-length body
    RESET = "reset"
    NO_RESPONSE = "no_response"  # closed without a status line
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    PROTOCOL_ERROR = "protocol_error"  # not HTTP
    HEADERS_TIMEOUT = "headers_timeout"
    PREFILL_TIMEOUT = "prefill_timeout"  # no token in time
    IDLE_TIMEOUT = "idle_timeout"  # no token for too long after the first
    TOTAL_TIMEOUT = "total_timeout"
    CANCELLED = "cancelled"  # by the person, or by the check itself
    LIMIT = "limit"  # our own byte limit


@dataclass(frozen=True, slots=True)
class RequestSpec:
    """One HTTP request to be sent. `stream` is what the body asks for."""

    method: str
    path: str  # appended to the target's base URL
    body: dict[str, Any] | None
    stream: bool
    check: str
    label: str
    cache: str = "fresh"  # fresh | repeat | any: never mixed in one figure
    client_concurrency: int = 1


@dataclass(slots=True)
class Exchange:
    """The raw record: when what happened, in monotonic ns, and how it ended."""

    spec: RequestSpec
    started_ns: int = 0  # before connecting
    connected_ns: int | None = None
    sent_ns: int = 0
    headers_ns: int | None = None
    ended_ns: int = 0
    http_version: str = ""
    status: int | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)
    ending: Ending = Ending.COMPLETE
    error: str = ""
    lingered: bool = False  # the server kept the connection open after the end of its stream


@dataclass(slots=True)
class Timeline:
    """Client-measured times of one request (design 5); all in ms, all from `sent_ns`."""

    connect_ms: float | None = None  # its own figure: before the request was sent
    headers_ms: float | None = None
    first_byte_ms: float | None = None
    first_event_ms: float | None = None
    first_reasoning_ms: float | None = None
    first_content_ms: float | None = None
    first_tool_ms: float | None = None
    ttft_ms: float | None = None
    last_token_ms: float | None = None
    end_ms: float | None = None
    itl_mean_ms: float | None = None
    itl_p99_ms: float | None = None
    longest_stall_ms: float | None = None
    tpot_ms: float | None = None
    decode_tps: float | None = None  # client-measured
    decode_tps_reason: str = ""  # why it is empty, such as timing_artifact
    prompt_tps: float | None = None  # prompt_tokens / ttft: an upper-bounded estimate
    token_chunks: int = 0
    coalesced_chunks: int = 0  # that shared an arrival with another: one read brought both
    first_chunk_tokens: float | None = None  # of the first arrival: usage, 1 a chunk, or a share
    token_offsets_ms: list[float] = field(default_factory=list)  # of each content-bearing chunk


@dataclass(slots=True)
class Tokens:
    """Token counts and where they come from: usage, tokenizer, chunks or unknown."""

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    cached: int | None = None
    origin: str = "unknown"


@dataclass(slots=True)
class RequestResult:
    """One request, read and judged."""

    index: int
    check: str
    label: str
    streamed: bool
    cache: str
    client_concurrency: int
    outcome: Outcome
    failure_class: str = ""
    explanation: str = ""
    findings: list[Finding] = field(default_factory=list)  # in order of time
    timeline: Timeline = field(default_factory=Timeline)
    tokens: Tokens = field(default_factory=Tokens)
    server: dict[str, float] = field(default_factory=dict)  # server-reported figures
    http_status: int | None = None
    finish_reason: str | None = None
    done_seen: bool | None = None
    model_reported: str | None = None
    ending: str = ""
    asked: str = ""  # bounded
    expected: str = ""  # in words
    answer: str = ""  # bounded excerpt of content
    reasoning: str = ""  # bounded excerpt
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)  # of interest, redacted
    excerpt: str = ""  # raw text around the fault, bounded and redacted
    started_offset_ms: float = 0.0  # since the run started: places it in the waterfall

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


@dataclass(slots=True)
class Identity:
    """What was found to be really loaded, and how strong the proof is (E0 to E6)."""

    level: int = 0
    status: str = "unverifiable"  # verified | alias_only | mismatch | unverifiable
    sentence: str = ""
    facts: dict[str, Any] = field(default_factory=dict)  # file, digest, version, start time ...


@dataclass(slots=True)
class CheckResult:
    """One check: the worst of its requests and of its own findings."""

    key: str
    title: str
    outcome: Outcome
    failure_class: str = ""
    explanation: str = ""
    requests: list[int] = field(default_factory=list)  # indexes into the report's requests
    figures: dict[str, Any] = field(default_factory=dict)  # spread, slot release ... with units


@dataclass(slots=True)
class RunReport:
    """A whole run. `instrument` tells our own error: loop lag, send lag, achieved concurrency."""

    outcome: Outcome
    failure_class: str = ""
    explanation: str = ""
    checks: list[CheckResult] = field(default_factory=list)
    requests: list[RequestResult] = field(default_factory=list)
    identity_before: Identity = field(default_factory=Identity)
    identity_after: Identity = field(default_factory=Identity)
    instrument: dict[str, Any] = field(default_factory=dict)
    load_ms: float | None = None
    warnings: list[str] = field(default_factory=list)
    memory: dict[str, Any] = field(default_factory=dict)  # Watch.report()

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)
