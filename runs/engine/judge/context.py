"""One request with everything known about it, and how the judging parts report on it."""

from __future__ import annotations

from dataclasses import dataclass

from runs.engine.clock import ms_between
from runs.engine.judge.expectation import Contract, Expectation
from runs.engine.outcomes import Finding, Outcome
from runs.engine.reading import Reading, TokenKind
from runs.engine.records import Exchange, Timeline, Tokens
from runs.engine.redact import excerpt, redact


@dataclass(frozen=True, slots=True)
class Case:
    """What the parts of the judge look at."""

    exchange: Exchange
    reading: Reading
    timeline: Timeline
    tokens: Tokens
    expectation: Expectation
    contract: Contract

    @property
    def streamed(self) -> bool:
        return self.exchange.spec.stream

    @property
    def has_tools(self) -> bool:
        """Tools were offered to the model."""
        return bool(self.expectation.tool or (self.exchange.spec.body or {}).get("tools"))

    @property
    def end_ms(self) -> float:
        return self.timeline.end_ms or 0.0

    def at(self, moment_ns: int | None) -> float | None:
        """A moment as ms since the request was sent."""
        return None if moment_ns is None else ms_between(self.exchange.sent_ns, moment_ns)

    def at_char(self, position: int) -> float | None:
        """When the character at this position of the content arrived."""
        seen = 0
        for token in self.reading.tokens:
            if token.kind is TokenKind.CONTENT:
                seen += token.chars
                if seen > position:
                    return self.at(token.at_ns)
        return self.timeline.last_token_ms

    def finding(
        self,
        failure_class: str,
        explanation: str,
        *,
        at_ms: float | None = None,
        outcome: Outcome | None = None,
        raw: str = "",
    ) -> Finding:
        """A finding at a moment (the end, if none is given) with a bounded excerpt."""
        moment = self.end_ms if at_ms is None else at_ms
        shown = excerpt(raw or self.reading.text_tail)
        return Finding(failure_class, redact(explanation), moment, outcome, shown)
