"""A suite being edited, as the form holds it: everything typed survives every button."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runs.engine.checks import CHECKS
from runs.engine.checks.params import PARAMS, Param
from runs.models import Suite
from runs.suites.services import MOST_CHECKS


@dataclass(slots=True)
class Field:
    """One parameter's input."""

    param: Param
    typed: str
    name: str


@dataclass(slots=True)
class Row:
    """One check of the draft."""

    key: str
    typed: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return CHECKS[self.key].title if self.key in CHECKS else self.key

    def fields(self, place: int) -> list[Field]:
        return [
            Field(param, self.typed.get(param.name, ""), f"row-{place}-{param.name}")
            for param in PARAMS.get(self.key, ())
        ]


@dataclass(slots=True)
class Draft:
    key: str = ""
    name: str = ""
    description: str = ""
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def of(cls, suite: Suite) -> Draft:
        rows = [
            Row(check["key"], {n: _plain(v) for n, v in check.get("params", {}).items()})
            for check in suite.checks
        ]
        return cls(suite.key, suite.name, suite.description, rows)

    @classmethod
    def posted(cls, data: Mapping[str, str]) -> Draft:
        """What the form sent, bounded; unknown checks are dropped."""
        draft = cls(
            key=data.get("key", "").strip()[:50],
            name=data.get("name", "")[:200],
            description=data.get("description", "")[:4000],
        )
        for place in range(MOST_CHECKS + 1):
            key = data.get(f"row-{place}", "")
            if key in CHECKS:
                names = [param.name for param in PARAMS.get(key, ())]
                typed = {n: data.get(f"row-{place}-{n}", "")[:300] for n in names}
                draft.rows.append(Row(key, typed))
        return draft

    def press(self, button: str, add: str) -> bool:
        """Carry out a button of the draft itself; False for the one that stores it."""
        action, _, place = button.partition("-")
        at = int(place) if place.isdecimal() else -1
        if action == "add" and add in CHECKS:
            self.rows.append(Row(add))
        elif action == "remove" and 0 <= at < len(self.rows):
            self.rows.pop(at)
        elif action == "up" and 0 < at < len(self.rows):
            self._swap(at, at - 1)
        elif action == "down" and 0 <= at < len(self.rows) - 1:
            self._swap(at, at + 1)
        else:
            return action in ("add", "remove", "up", "down")
        return True

    def _swap(self, one: int, other: int) -> None:
        self.rows[one], self.rows[other] = self.rows[other], self.rows[one]

    def checks(self) -> list[dict[str, Any]]:
        return [{"key": row.key, "params": row.typed} for row in self.rows]

    def numbered(self) -> list[tuple[int, Row, list[Field]]]:
        return [(place, row, row.fields(place)) for place, row in enumerate(self.rows)]


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
