"""The gates of many deployments at once, for the inventory's rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from catalog.models import Revision
from verdicts.policies.evaluation import GateResult
from verdicts.policies.models import PolicyVersion, Role
from verdicts.policies.selectors import evidence_at, judged, shipped

MET = ("pass", "waived")


@dataclass(frozen=True, slots=True)
class Dots:
    """How one deployment stands for the role that it is likeliest to fill."""

    role: Role
    gates: tuple[GateResult, ...]

    @property
    def met(self) -> int:
        return sum(gate.state in MET for gate in self.gates if gate.counts)

    @property
    def counting(self) -> int:
        return sum(gate.counts for gate in self.gates)

    @property
    def words(self) -> str:
        """For the title and for screen readers."""
        open_ones = [gate for gate in self.gates if gate.counts and gate.state not in MET]
        said = f"{self.met} of {self.counting} gates for {self.role.label} are met"
        if not open_ones:
            return f"{said}."
        named = ", ".join(f"{gate.title} {gate.state}" for gate in open_ones[:4])
        more = f" and {len(open_ones) - 4} more" if len(open_ones) > 4 else ""
        return f"{said}. Open: {named}{more}."


def dots_of(asked: Iterable[tuple[Revision, Role]], at: datetime) -> dict[int, Dots]:
    """By revision; the same few queries for any number of them."""
    pairs = list(asked)
    current = {p.role: p for p in PolicyVersion.objects.filter(is_current=True)}
    evidence = evidence_at([revision for revision, _ in pairs], at)
    return {
        revision.pk: Dots(
            role,
            judged(
                current.get(role) or shipped(role, at), revision, evidence[revision.pk], role, at
            ).gates,
        )
        for revision, role in pairs
    }
