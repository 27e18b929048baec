"""From parts to a whole: the worst part decides, and the first of the worst names it."""

from __future__ import annotations

from runs.engine.checks.base import Check, Found
from runs.engine.judge import decide_run, judge_run
from runs.engine.outcomes import SEVERITY, Finding, Outcome
from runs.engine.records import CheckResult, RequestResult, RunReport

Verdict = tuple[Outcome, str, str]
PASSED: Verdict = (Outcome.CLEAN_PASS, "", "")
SKIPPED, NOT_RUN = "skipped", "not_run"


def worst(parts: list[Verdict]) -> Verdict:
    """Parts come in order of time; of equally bad ones the first is the cause."""
    return max(parts, key=lambda part: SEVERITY[part[0]], default=PASSED)


def judged(check: Check, found: Found, results: list[RequestResult]) -> CheckResult:
    """A check is as good as the worst of its requests and of its own findings."""
    outcome, failure_class, explanation = decide_run(results, found.findings)
    return CheckResult(
        key=check.key,
        title=check.title,
        outcome=outcome,
        failure_class=failure_class,
        explanation=explanation,
        requests=sorted(r.index for r in results),
        figures=found.figures,
    )


def skipped(check: Check, reason: str) -> CheckResult:
    """Left out: it has nothing to ask here. Neither a pass nor a fault."""
    return CheckResult(
        check.key,
        check.title,
        Outcome.INCONCLUSIVE,
        explanation=f"Left out: {reason}",
        figures={SKIPPED: True},
    )


def not_run(check: Check) -> CheckResult:
    """Not reached, since the run ended before."""
    return CheckResult(
        check.key,
        check.title,
        Outcome.INCONCLUSIVE,
        explanation="Not run: the run ended before.",
        figures={NOT_RUN: True},
    )


def conclude(report: RunReport, findings: list[Finding]) -> None:
    """The outcome of the run, from its checks and what was seen of the run as a whole.

    What was left out does not count; a run in which nothing was asked is inconclusive.
    """
    asked = [c for c in report.checks if not c.figures.get(SKIPPED)]
    parts = [(c.outcome, c.failure_class, c.explanation) for c in asked if was_run(c)]
    whole = decide_run(report.requests, [*findings, *judge_run(report.requests)])
    verdict = worst([whole, *parts])
    if not asked:
        nothing = "Nothing was asked: every check was left out as not applicable here."
        verdict = worst([verdict, (Outcome.INCONCLUSIVE, "", nothing)])
    report.outcome, report.failure_class, report.explanation = verdict


def was_run(check: CheckResult) -> bool:
    return not check.figures.get(NOT_RUN)
