"""Reading suites: the list, one with its versions, what changed from one to the next."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from django.db.models import Count, QuerySet

from runs.engine.checks import CHECKS
from runs.engine.checks.params import PARAMS
from runs.models import Suite


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check of a suite in words."""

    title: str
    description: str
    told: str  # its parameters, or nothing
    requests: int


@dataclass(frozen=True, slots=True)
class Version:
    """A version with what it changed against the one before."""

    suite: Suite
    runs: int
    added: list[str]
    removed: list[str]
    is_reordered: bool

    @property
    def changed_nothing(self) -> bool:
        return not (self.added or self.removed or self.is_reordered)


def listed_suites() -> QuerySet[Suite]:
    """The current version of each, with how many runs that version has had."""
    return Suite.objects.filter(is_current=True).annotate(run_count=Count("runs")).order_by("name")


def check_lines(suite: Suite) -> list[CheckLine]:
    return [_line(check) for check in suite.checks]


def _line(check: dict[str, Any]) -> CheckLine:
    known = CHECKS.get(check["key"])
    params = check.get("params", {})
    if known is None:
        return CheckLine(check["key"], "This release does not know the check.", "", 0)
    return CheckLine(known.title, known.description, told(check), known.requests(params))


def told(check: dict[str, Any]) -> str:
    """Parameters in words: `Prompt size 8,192 tokens`."""
    names = {param.name: param for param in PARAMS.get(check["key"], ())}
    parts = []
    for name, value in check.get("params", {}).items():
        param = names.get(name)
        shown = f"{value:,}" if isinstance(value, int | float) else f"“{value}”"
        unit = f" {param.unit}" if param and param.kind != "text" else ""
        parts.append(f"{param.title if param else name} {shown}{unit}")
    return ", ".join(parts)


def in_words(check: dict[str, Any]) -> str:
    known = CHECKS.get(check["key"])
    title = known.title if known else check["key"]
    params = told(check)
    return f"{title} ({params})" if params else title


def versions_of(key: str) -> list[Version]:
    """All versions, newest first."""
    rows = list(
        Suite.objects.filter(key=key).annotate(run_count=Count("runs")).order_by("version")
    )
    before: list[str] = []
    found = []
    for row in rows:
        now = [in_words(check) for check in row.checks]
        found.append(_version(row, before, now))
        before = now
    return found[::-1]


def _version(row: Any, before: list[str], now: list[str]) -> Version:
    added, removed = [], []
    for kind, i1, i2, j1, j2 in SequenceMatcher(a=before, b=now, autojunk=False).get_opcodes():
        if kind != "equal":
            removed += before[i1:i2]
            added += now[j1:j2]
    moved = [line for line in added if line in removed]
    for line in moved:
        added.remove(line)
        removed.remove(line)
    return Version(row, row.run_count, added, removed, bool(moved))
