"""Tool calls: the right name, arguments that fit, the right finish reason."""

from __future__ import annotations

import json
import re

import jsonschema

from runs.engine.judge.context import Case
from runs.engine.outcomes import Finding
from runs.engine.reading import ToolCall

CALL_MARKUP = re.compile(
    r"</?tool_call|<function[=_]|\[TOOL_CALLS?\]|<\|python_tag\|>|functools\[|tool[_▁]calls?[_▁]"
    r"|<(?:invoke|function_call)\b",
    re.IGNORECASE,
)
CALL_JSON = re.compile(r"[\"']?(?:arguments|parameters)[\"']?\s*:\s*[{\"]")
CALLS_REASONS = {"tool_calls", "function_call"}


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
    """Printed as text is not called: clients would show it instead of acting on it."""
    content, name = case.reading.content, re.escape(case.expectation.tool)
    spoken = f"{case.reading.reasoning}\n{content}"
    names_it = re.search(rf"\b{name}\b", content) and CALL_JSON.search(content)
    if names_it or CALL_MARKUP.search(spoken) or re.search(rf"\b{name}\(", content):
        text = f"The call of {case.expectation.tool} was printed as text."
        return case.finding("tool_call_leaked", text, raw=spoken.strip())
    return case.finding(
        "tool_call_missing", f"{case.expectation.tool} was not called.", raw=spoken.strip()
    )


def _call(case: Case, call: ToolCall) -> list[Finding]:
    expect = case.expectation
    if call.name != expect.tool:
        text = f"It called {call.name[:80]!r}; only {expect.tool!r} exists."
        return [case.finding("tool_call_invalid", text, raw=call.arguments)]
    if not call.has_arguments or not call.arguments.strip():
        return _no_arguments(case)
    return [*_arguments(case, call), *_form(case, call)]


def _arguments(case: Case, call: ToolCall) -> list[Finding]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError) as error:
        text = f"The arguments are no JSON: {error}."
        return [case.finding("tool_call_invalid", text, raw=call.arguments)]
    if not isinstance(arguments, dict):
        text = "The arguments are JSON, but no object."
        return [case.finding("tool_call_invalid", text, raw=call.arguments)]
    schema = case.expectation.tool_schema or {}
    fault = next(jsonschema.Draft202012Validator(schema).iter_errors(arguments), None)
    if fault is None:
        return []
    text = f"The arguments do not fit: {fault.message[:200]}."
    return [case.finding("tool_call_invalid", text, raw=call.arguments)]


def _form(case: Case, call: ToolCall) -> list[Finding]:
    """A right call in a form that strict clients stumble over. Native APIs have forms of their
    own."""
    if case.contract.framing != "sse":
        return []
    problems = []
    if call.is_object:
        problems.append("its arguments are an object, not text")
    if not call.id:
        problems.append("it has no id")
    if call.shares_index:
        problems.append("it shares its index with another call")
    if not problems:
        return []
    text = f"The call is right, but {' and '.join(problems)}."
    return [case.finding("tool_call_nonconformant", text, raw=call.arguments)]


def _no_arguments(case: Case) -> list[Finding]:
    """Harmless only where the function takes none; even then `{}` is due."""
    required = (case.expectation.tool_schema or {}).get("required")
    name = "tool_call_invalid" if required else "tool_call_nonconformant"
    return [case.finding(name, "The call came without arguments; at least {} is due.")]


def _finish(case: Case) -> list[Finding]:
    """`stop` is right after a named tool_choice, and on native APIs."""
    reason = case.reading.finish_reason
    is_free = case.expectation.tool_choice_named or case.contract.framing != "sse"
    if reason in CALLS_REASONS or (reason == "stop" and is_free):
        return []
    if reason in (None, "length", "max_tokens"):
        return []  # a finding of its own
    text = f"A tool call came, but the finish reason is {reason}."
    return [case.finding("finish_reason_mismatch", text)]
