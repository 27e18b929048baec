"""Tool calls: the right name, arguments that fit, the right finish reason."""

from __future__ import annotations

import json
import re

import jsonschema

from runs.engine.judge.context import Case
from runs.engine.outcomes import Finding
from runs.engine.reading import ToolCall

CALL_TEXT = re.compile(
    r"<tool_call>|<function[=_]|\[TOOL_CALLS\]|<\|python_tag\|>|\"arguments\"\s*:|\"parameters\"\s*:"
)


def tool_findings(case: Case) -> list[Finding]:
    """For a request that had to bring a tool call."""
    reading, expect = case.reading, case.expectation
    if not expect.tool or reading.errors:
        return []
    if not reading.tool_calls:
        return [_no_call(case)]
    found = [f for call in reading.tool_calls for f in _call(case, call)]
    return [*found, *_finish(case)]


def _no_call(case: Case) -> Finding:
    content, name = case.reading.content, case.expectation.tool
    if CALL_TEXT.search(content) or (name in content and "{" in content):
        return case.finding(
            "tool_call_leaked", f"The call of {name} was printed as text.", raw=content
        )
    return case.finding("tool_call_missing", f"{name} was not called.", raw=content)


def _call(case: Case, call: ToolCall) -> list[Finding]:
    expect = case.expectation
    if call.name != expect.tool:
        return [
            case.finding(
                "tool_call_invalid",
                f"It called {call.name[:80]!r}; only {expect.tool!r} exists.",
                raw=call.arguments,
            )
        ]
    if not call.has_arguments:
        return _no_arguments(case)
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError) as error:
        return [
            case.finding(
                "tool_call_invalid", f"The arguments are no JSON: {error}.", raw=call.arguments
            )
        ]
    schema = expect.tool_schema or {"type": "object"}
    fault = next(jsonschema.Draft202012Validator(schema).iter_errors(arguments), None)
    if fault is None:
        return []
    return [
        case.finding(
            "tool_call_invalid",
            f"The arguments do not fit: {fault.message[:200]}.",
            raw=call.arguments,
        )
    ]


def _no_arguments(case: Case) -> list[Finding]:
    """Harmless only where the function takes none; even then `{}` is due."""
    required = (case.expectation.tool_schema or {}).get("required")
    name = "tool_call_invalid" if required else "tool_call_nonconformant"
    return [case.finding(name, "The call came without arguments; at least {} is due.")]


def _finish(case: Case) -> list[Finding]:
    reason = case.reading.finish_reason
    fine = {"tool_calls", "function_call"} | (
        {"stop"} if case.expectation.tool_choice_named else set()
    )
    native = case.contract.framing == "ndjson"
    if reason is None or reason in fine or native or reason == "length":
        return []
    return [
        case.finding(
            "finish_reason_mismatch", f"A tool call came, but the finish reason is {reason}."
        )
    ]
