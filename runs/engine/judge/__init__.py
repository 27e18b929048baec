"""Judges what was read. Findings are ordered by time: the first cause names the result."""

from runs.engine.judge.decide import decide, default_outcome
from runs.engine.judge.expectation import Contract, Expectation
from runs.engine.judge.request import judge_request
from runs.engine.judge.result import to_result
from runs.engine.judge.run import decide_run, judge_run

__all__ = [
    "Contract",
    "Expectation",
    "decide",
    "decide_run",
    "default_outcome",
    "judge_request",
    "judge_run",
    "to_result",
]
