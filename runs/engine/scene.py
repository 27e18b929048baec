"""The running session as checks see it: sends requests, judges them, keeps their results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx

from runs.engine.checks.base import Request, Sent
from runs.engine.clock import ms_between, now_ns
from runs.engine.exchange import perform
from runs.engine.instrument import together
from runs.engine.judge import judge_request, to_result
from runs.engine.observer import Cancel
from runs.engine.outcomes import Finding
from runs.engine.plan import Plan
from runs.engine.prompts import Prompts
from runs.engine.reading import Reading
from runs.engine.records import Ending, Exchange, Identity, RequestResult
from runs.engine.reporting import Reporter
from runs.engine.runtimes.base import DOWN, Adapter, Facts
from runs.engine.runtimes.gateways import answered_by_somebody_else, tried_again
from runs.engine.runtimes.peek import PeekError
from runs.engine.stopping import After, RunStopped, cancelled, wait
from runs.engine.timeline import build_timeline, count_tokens

BROKEN = (Ending.RESET, Ending.CLOSED_EARLY, Ending.NO_RESPONSE, Ending.EOF)


class LiveScene:
    """Implements `checks.base.Scene`."""

    def __init__(
        self,
        plan: Plan,
        adapter: Adapter,
        client: httpx.AsyncClient,
        reporter: Reporter,
        cancel: Cancel,
        seed: int,
    ) -> None:
        self.plan = plan
        self.adapter = adapter
        self.client = client
        self.reporter = reporter
        self.cancel = cancel
        self.prompts = Prompts(seed)
        self.facts = Facts()
        self.identity = Identity()
        self.results: list[RequestResult] = []
        self.send_lag_max_ms = 0.0
        self.position = 0  # of the check that is running
        self._next_index = 0

    async def send(self, request: Request) -> Sent:
        """Raises RunStopped when cancelled, or when the server is gone."""
        index = self._queue(request)
        exchange, reading = await self._perform(index, request)
        sent = self._keep(index, request, exchange, reading)
        await self._go_on(exchange)
        return sent

    async def send_together(self, requests: list[Request]) -> tuple[list[Sent], dict[str, Any]]:
        """All are built before the first is sent; each has a connection of its own. None is
        judged before the last has ended: that takes time, and would make open streams late."""
        queued = [self._queue(request) for request in requests]
        work = [self._perform(i, r) for i, r in zip(queued, requests, strict=True)]
        ended = await asyncio.gather(*work)
        sent = [self._keep(i, r, *e) for i, r, e in zip(queued, requests, ended, strict=True)]
        exchanges = [exchange for exchange, _ in ended]
        for exchange in exchanges:
            await self._go_on(exchange)
        return sent, together(exchanges)

    async def wait(self, seconds: float) -> None:
        await wait(seconds, self.cancel)

    async def count(self, messages: list[dict[str, Any]]) -> int | None:
        try:
            return await self.adapter.count_tokens(messages, self.plan.target.itself().model)
        except PeekError:
            return None

    def note(self, text: str) -> None:
        self.reporter.note(text)

    # --- one request ---

    def _queue(self, request: Request) -> int:
        if self.cancel.is_set():
            raise cancelled()
        index, self._next_index = self._next_index, self._next_index + 1
        self.reporter.request_queued(index, self.position, request.spec)
        return index

    async def _perform(self, index: int, request: Request) -> tuple[Exchange, Reading]:
        wanted_ns = now_ns()
        exchange, reading = await perform(
            self.client,
            request.spec,
            deadlines=self.plan.deadlines,
            limits=self.plan.limits,
            progress=lambda kind, data: self.reporter.emit(kind, {"request": index, **data}),
            cancel=After(self.cancel, request.stop_after_s),
            stop_when=enough(request.stop_after_tokens),
        )
        lag_ms = ms_between(wanted_ns, exchange.started_ns)
        self.send_lag_max_ms = max(self.send_lag_max_ms, lag_ms)
        return exchange, reading

    def _keep(self, index: int, request: Request, exchange: Exchange, reading: Reading) -> Sent:
        result = self._judged(index, request, exchange, reading)
        self.results.append(result)
        self.reporter.request_finished(index, result)
        return Sent(result, reading.json_body)

    def _judged(
        self, index: int, request: Request, exchange: Exchange, reading: Reading
    ) -> RequestResult:
        tokens = count_tokens(reading)
        timeline = build_timeline(exchange, reading, tokens)
        expect = replace(request.expect, names=self._names())
        findings = judge_request(
            exchange, reading, timeline, tokens, expect, self.adapter.contract
        )
        if elsewhere := answered_by_somebody_else(dict(exchange.headers)):
            findings.append(Finding("identity_mismatch", elsewhere))
        if again := tried_again(dict(exchange.headers)):
            findings.append(Finding("telemetry_gap", again))
        return to_result(
            index,
            exchange,
            reading,
            timeline,
            tokens,
            expect,
            findings,
            asked=request.asked,
            started_offset_ms=self.reporter.since_start(exchange.sent_ns),
        )

    def _names(self) -> tuple[str, ...]:
        """What answers may call the model; nothing to go by where the server tells no names."""
        target, told = self.plan.target, self.facts.names
        return (target.model, *target.expected_names, *told) if told else ()

    async def _go_on(self, exchange: Exchange) -> None:
        """Raises RunStopped when there is no use in asking more."""
        if self.cancel.is_set():
            raise cancelled()
        if exchange.ending == Ending.CONNECT_FAILED:
            raise RunStopped("connect_failed", exchange.error)
        if exchange.ending == Ending.TLS_FAILED:
            raise RunStopped("tls_failed", exchange.error)
        if exchange.ending in BROKEN:
            await self._look_once()

    async def _look_once(self) -> None:
        """After a connection broke: does the server still answer?"""
        health = await self.adapter.health()
        if health.state == DOWN and health.kind == "connect":
            raise RunStopped(
                "process_crash",
                "The connection broke in the middle of an answer, and now nothing listens there: "
                "the server has crashed or was stopped. Look at its log.",
            )


def enough(tokens: int | None) -> Callable[[Reading], bool] | None:
    """Stops a request once so many token chunks have come."""
    return None if tokens is None else lambda reading: len(reading.tokens) >= tokens
