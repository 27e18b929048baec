"""What each check may be told, so that a suite can be checked before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from runs.engine.checks import CHECKS
from runs.engine.checks.concurrency import MOST_CLIENTS
from runs.engine.checks.pooling_load import MOST_ROUNDS

MOST_TOKENS = 2_000_000
LONGEST_REST_S = 3600.0


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter. `low` and `high` bound a number, or the length of a text."""

    name: str
    title: str
    kind: str  # whole | number | text
    low: float
    high: float
    unit: str
    when_empty: str

    def read(self, typed: Any) -> int | float | str:
        """The value as it is stored. Raises ValueError with a sentence for people."""
        if self.kind == "text":
            return self._text(str(typed).strip())
        digits = str(typed).replace(",", "").replace(" ", "")
        try:
            value = int(digits) if self.kind == "whole" else float(digits)
        except ValueError:
            raise ValueError(f"{self.title} must be a number of {self.unit}.") from None
        if not self.low <= value <= self.high:
            raise ValueError(
                f"{self.title} must be from {self.low:,g} to {self.high:,g} {self.unit}."
            )
        return value

    def _text(self, text: str) -> str:
        if not self.low <= len(text) <= self.high or not text.isprintable():
            raise ValueError(
                f"{self.title} must be {self.low:g} to {self.high:g} printable characters."
            )
        return text


TOKENS = Param("tokens", "Prompt size", "whole", 16, MOST_TOKENS, "tokens", "the check's own size")
TOOL = Param("expect_tool", "Function name", "text", 1, 64, "characters", "lookup_weather")

POOLING_LOAD = (
    Param("clients", "Clients", "whole", 1, MOST_CLIENTS, "requests at one moment", "one by one"),
    Param("rounds", "Rounds", "whole", 1, MOST_ROUNDS, "groups of requests", "4"),
)

PARAMS: dict[str, tuple[Param, ...]] = {
    "marker": (Param("marker", "Marker", "text", 1, 200, "characters", "drawn anew each time"),),
    "tool": (TOOL,),
    "tool_result": (TOOL,),
    "long": (TOKENS,),
    "repeat": (TOKENS,),
    "growth": (
        TOKENS,
        Param("idle_s", "Rest", "number", 0.1, LONGEST_REST_S, "seconds", "the check's own rest"),
    ),
    "concurrency": (
        Param("clients", "Clients", "whole", 1, MOST_CLIENTS, "requests at one moment", "4"),
        replace(TOKENS, when_empty="a short question"),
        Param("repeat", "Exact repeat", "whole", 0, 1, "repeats of the same bytes", "none"),
        Param("rest_s", "Rest", "number", 0, LONGEST_REST_S, "seconds", "none"),
    ),
    "embeddings": POOLING_LOAD,
    "rerank": POOLING_LOAD,
}


def read_params(key: str, typed: Mapping[str, Any]) -> dict[str, int | float | str]:
    """The parameters of one check, empty ones left out. Raises ValueError for people."""
    if key not in CHECKS:
        raise ValueError(f"There is no check {key!r}. There are: {', '.join(CHECKS)}.")
    known = {param.name: param for param in PARAMS.get(key, ())}
    if unknown := sorted(set(typed) - set(known)):
        raise ValueError(f"{CHECKS[key].title} takes no parameter {unknown[0]!r}.")
    given = {name: value for name, value in typed.items() if str(value).strip()}
    return {name: known[name].read(value) for name, value in given.items()}
