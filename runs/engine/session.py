"""Runs a plan: wait for the server, see who it is, ask the checks, see who it is again."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack
from typing import Any

from runs.engine.arrival import arrive, open_scene
from runs.engine.checks import CHECKS, plan_requests
from runs.engine.checks.base import Found, NotApplicable
from runs.engine.identity import MISMATCH, changes, findings, identify_behind
from runs.engine.instrument import LAG_LIMIT_MS, LoopLag
from runs.engine.observer import Cancel, Observer
from runs.engine.outcomes import Finding, Outcome
from runs.engine.plan import CheckSpec, Plan
from runs.engine.quiet import quiet_collector
from runs.engine.records import CheckResult, Identity, RunReport
from runs.engine.reporting import Reporter
from runs.engine.runtimes.peek import PeekError
from runs.engine.scene import LiveScene
from runs.engine.stopping import RunStopped
from runs.engine.summary import conclude, judged, not_run, skipped
from runs.engine.watch import Watch

LOOKS = 3
NOT_READ = Identity(sentence="Not read: the run ended before.")
NOT_READ_AGAIN = Identity(sentence="Not read again: the run ended before.")


def run_plan_sync(plan: Plan, observer: Observer, cancel: Cancel) -> RunReport:
    """`run_plan` in an event loop of its own, in the calling thread."""
    return asyncio.run(run_plan(plan, observer, cancel))


async def run_plan(
    plan: Plan, observer: Observer, cancel: Cancel, *, sample_memory: bool = True
) -> RunReport:
    """Carry the plan out and report; what a server does wrong is never raised.

    Events go to `observer` as `observer.py` describes. `cancel` ends the run within about a
    second: inconclusive, with what was recorded so far.
    """
    return await Session(plan, Reporter(observer), cancel).run(sample_memory=sample_memory)


class Session:
    """One run, from its first look at the server to its outcome."""

    def __init__(self, plan: Plan, reporter: Reporter, cancel: Cancel) -> None:
        self.seed = plan.seed or random.SystemRandom().randrange(1, 2**31)
        self.plan = plan
        self.reporter = reporter
        self.watch = Watch(plan, reporter, cancel)
        self.report = RunReport(
            Outcome.INCONCLUSIVE, identity_before=NOT_READ, identity_after=NOT_READ_AGAIN
        )
        self.findings: list[Finding] = []  # of the run itself, in order of time
        self.lag = LoopLag()

    async def run(self, *, sample_memory: bool) -> RunReport:
        plan, report = self.plan, self.report
        self.reporter.emit(
            "run.started",
            {
                "suite": plan.suite,
                "checks": [spec.key for spec in plan.checks],
                "requests": plan_requests(plan),
            },
        )
        try:
            self.plan, report.load_ms = await arrive(plan, self.reporter, self.watch)
            async with AsyncExitStack() as stack:
                scene = await stack.enter_async_context(
                    open_scene(self.plan, self.reporter, self.watch, self.seed)
                )
                await self._inside(scene, stack, sample_memory)
        except RunStopped as error:
            stopped = self.watch.reason_of(error)
            self.findings.append(Finding(stopped.failure_class, stopped.explanation))
        self._leave_the_rest()
        conclude(report, self.findings)
        self.reporter.emit(
            "run.finished",
            {
                "outcome": report.outcome.value,
                "failure_class": report.failure_class,
                "explanation": report.explanation,
            },
        )
        return report

    async def _inside(self, scene: LiveScene, stack: AsyncExitStack, sample_memory: bool) -> None:
        report = self.report
        report.requests = scene.results
        await stack.enter_async_context(self.lag)
        if sample_memory:
            await self.watch.start(self.plan, stack)
        stack.enter_context(quiet_collector())
        try:
            await self._identify_before(scene)
            await self._see_that_we_are_alone(scene)
            for position, spec in enumerate(self.plan.checks):
                await self._check(scene, position, spec)
            await self._identify_after(scene)
        finally:
            report.requests = sorted(scene.results, key=lambda result: result.index)
            report.instrument = self._instrument(scene)
            self.findings += await self.watch.see_release(scene.adapter)
            self.findings += self.watch.findings()
            self.findings += self.watch.clients.findings(
                report.requests, is_behind=self.plan.target.is_behind
            )
            report.memory = self.watch.report()

    async def _identify_before(self, scene: LiveScene) -> None:
        try:
            scene.identity, scene.facts = await identify_behind(scene.adapter, self.plan.target)
        except PeekError as error:
            self.reporter.note(f"Identity could not be read: {error}", "warning")
            scene.identity.sentence = str(error)
        self.report.identity_before = scene.identity
        self.report.warnings += scene.facts.warnings
        if scene.identity.status == MISMATCH:
            self.findings += findings(scene.identity)

    async def _see_that_we_are_alone(self, scene: LiveScene) -> None:
        """Somebody else's requests change our times; what we left behind may need a moment."""
        for _ in range(LOOKS):
            try:
                running = (await scene.adapter.load()).running
            except PeekError:
                return
            if not running:
                return
            await scene.wait(scene.adapter.poll_pause_s)
        self.findings.append(
            Finding(
                "telemetry_gap",
                f"{running} requests of somebody else were running when this run began: its "
                "times are not the server's alone. Measure again when nobody else uses it.",
            )
        )

    async def _identify_after(self, scene: LiveScene) -> None:
        """Read again: whatever changed in between voids the run."""
        try:
            self.report.identity_after, _ = await identify_behind(scene.adapter, self.plan.target)
        except PeekError as error:
            sentence = f"Identity could not be read again: {error}"
            self.report.identity_after = Identity(sentence=sentence)
            self.findings.append(Finding("identity_unverified", sentence))
            return
        self.findings += changes(scene.identity, self.report.identity_after)

    async def _check(self, scene: LiveScene, position: int, spec: CheckSpec) -> None:
        check = CHECKS[spec.key]
        payload = {"check": position, "key": spec.key, "title": check.title}
        self.reporter.emit("check.started", payload)
        scene.position, already = position, len(scene.results)
        stopped: RunStopped | None = None
        try:
            found = await check.run(scene, spec.params)
        except NotApplicable as reason:
            self._finish(position, skipped(check, str(reason)))
            self.report.warnings.append(f"{check.title} was left out: {reason}")
            return
        except RunStopped as error:
            stopped = self.watch.reason_of(error)
            found = Found([Finding(stopped.failure_class, stopped.explanation)])
        self._finish(position, judged(check, found, scene.results[already:]))
        if stopped:
            raise stopped

    def _finish(self, position: int, result: CheckResult) -> None:
        self.report.checks.append(result)
        self.reporter.check_finished(position, result)

    def _leave_the_rest(self) -> None:
        """What was not reached is recorded as not run: no pile of equal failures."""
        for spec in self.plan.checks[len(self.report.checks) :]:
            self.report.checks.append(not_run(CHECKS[spec.key]))

    def _instrument(self, scene: LiveScene) -> dict[str, Any]:
        """Our own error, beside the results."""
        if self.lag.max_ms > LAG_LIMIT_MS:
            self.findings.append(
                Finding(
                    "telemetry_gap",
                    f"Our own event loop was up to {self.lag.max_ms:.0f} ms late: times of this "
                    "run are not to be trusted. Measure again when the machine is less busy.",
                )
            )
        return {
            "seed": self.seed,
            "loop_lag_max_ms": round(self.lag.max_ms, 3),
            "send_lag_max_ms": round(scene.send_lag_max_ms, 3),
        }
