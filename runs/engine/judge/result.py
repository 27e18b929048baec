"""The stored result of a request: judged, bounded, redacted."""

from __future__ import annotations

from collections.abc import Sequence

from runs.engine.judge.decide import decide, in_time
from runs.engine.judge.expectation import Expectation
from runs.engine.outcomes import Finding
from runs.engine.reading import Reading
from runs.engine.records import Exchange, RequestResult, Timeline, Tokens
from runs.engine.redact import excerpt, headers_of_interest, redact, storable

TEXT_CHARS = 4000
MAX_TOOL_CALLS = 8


def to_result(
    index: int,
    exchange: Exchange,
    reading: Reading,
    timeline: Timeline,
    tokens: Tokens,
    expectation: Expectation,
    findings: Sequence[Finding],
    *,
    asked: str = "",
    started_offset_ms: float = 0.0,
) -> RequestResult:
    """Everything worth keeping of one request."""
    spec = exchange.spec
    outcome, failure_class, explanation = decide(findings)
    first = next((f for f in in_time(findings) if f.failure_class == failure_class), None)
    return RequestResult(
        index=index,
        check=spec.check,
        label=spec.label,
        streamed=spec.stream,
        cache=spec.cache,
        client_concurrency=spec.client_concurrency,
        outcome=outcome,
        failure_class=failure_class,
        explanation=redact(explanation),
        findings=in_time(findings),
        timeline=timeline,
        tokens=tokens,
        server={storable(name)[:60]: value for name, value in reading.server.items()},
        http_status=exchange.status,
        finish_reason=_storable(reading.finish_reason),
        done_seen=reading.done_seen if spec.stream else None,
        model_reported=_storable(reading.models[-1] if reading.models else None),
        ending=exchange.ending.value,
        asked=excerpt(asked, TEXT_CHARS),
        expected=expectation.in_words(),
        answer=excerpt(reading.content, TEXT_CHARS),
        reasoning=excerpt(reading.reasoning, TEXT_CHARS),
        tool_calls=[_bounded(call.as_dict()) for call in reading.tool_calls[:MAX_TOOL_CALLS]],
        headers=headers_of_interest(exchange.headers),
        excerpt=first.excerpt if first else "",
        started_offset_ms=started_offset_ms,
    )


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _bounded(call: dict[str, str]) -> dict[str, str]:
    return {name: excerpt(text, TEXT_CHARS) for name, text in call.items()}
