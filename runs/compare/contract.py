"""Under what a figure was measured, and whether two may stand side by side. Pure.

What differs by intent (artifact, runtime, configuration) is what a comparison is about; what
differs in the question makes it another figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

SHORT_TOKENS = 1024
DIGITS = 2  # sizes that agree in two digits are the same size


@dataclass(frozen=True, slots=True, order=True)
class Contract:
    """One question. `size` in tokens (0: short), `clients` open at one moment."""

    check: str
    size: int
    cache: str
    streamed: bool
    clients: int
    layer: str
    host: str
    sampling: str
    origin: str

    @property
    def words(self) -> str:
        size = f"{self.size:,} tokens" if self.size else "short prompt"
        parts = [self.check.replace("_", " "), size, repeat_word(self.cache)]
        if self.clients > 1:
            parts.append(f"{self.clients} clients")
        return ", ".join([*parts, f"{self.layer} layer"])


def repeat_word(cache: str) -> str:
    return "exact repeat" if cache == "repeat" else cache


def rounded_size(tokens: int | None) -> int:
    """0 for a short or unknown prompt; else rounded to two digits, so that 32,672 is 32,768."""
    if not tokens or tokens <= SHORT_TOKENS:
        return 0
    step: int = 10 ** (len(str(tokens)) - DIGITS)
    return round(tokens / step) * step


REASONS = {
    "layer": "{0} against {1}: another way in",
    "cache": "{0} against {1}: a cache hit is no prefill",
    "size": "prompts of {0} against {1} tokens",
    "sampling": "another sampling: {0} against {1}",
    "origin": "{0} figures against {1} figures",
    "host": "another host: {0} against {1}",
    "clients": "{0} against {1} requests open at one moment",
    "streamed": "streamed against not streamed",
    "check": "{0} against {1}: another question",
}


def differences(one: Contract, other: Contract) -> list[str]:
    """Why two contracts may not be compared, in sentences; none when they are the same."""
    found = []
    for field in fields(Contract):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if first != second:
            found.append(REASONS[field.name].format(worded(first), worded(second)))
    return found


def worded(value: object) -> str:
    if isinstance(value, str):
        return repeat_word(value) or "as the runtime has it"
    return f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A contract that not every side was measured under, and the nearest that there is."""

    contract: Contract
    sides: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Common:
    """What may be compared, and what may not and why. `same` empty means refused as a whole."""

    same: tuple[Contract, ...]
    refused: tuple[Refusal, ...]


def common(sides: Sequence[tuple[str, Iterable[Contract]]]) -> Common:
    """`sides`: name and contracts of each. Compared is only what every side was measured under."""
    known = [(name, set(contracts)) for name, contracts in sides]
    if not known:
        return Common((), ())
    same = set.intersection(*(contracts for _, contracts in known))
    refused = []
    for contract in sorted(set.union(*(contracts for _, contracts in known)) - same):
        having = tuple(name for name, contracts in known if contract in contracts)
        others = {c for _, contracts in known if contract not in contracts for c in contracts}
        refused.append(Refusal(contract, having, nearest(contract, others)))
    return Common(tuple(sorted(same)), tuple(refused))


def nearest(contract: Contract, others: Iterable[Contract]) -> tuple[str, ...]:
    """What sets it apart from the most similar contract of the other sides."""
    found = [differences(contract, other) for other in others]
    if not found:
        return ("The other side has no clean figures at all.",)
    fewest = min(len(reasons) for reasons in found)
    return tuple(next(reasons for reasons in found if len(reasons) == fewest))
