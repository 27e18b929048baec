"""From measured growth to what a full context would need, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from catalog.models import Deployment, ImportedFigure, Revision
from runs.memory.budget import limits_for
from runs.memory.fits import Fit, bends_upwards, straight_line
from runs.memory.models import GrowthPoint
from runs.models import RunState

CONTEXT_TARGET = 131_072  # tokens: the validated operating target
CONTEXT_CEILING = 200_000  # tokens: a capacity ceiling only
GIB = 1024**3
# Prompt sizes as people say them, in tokens.
SIZES = {"8K": 8192, "32K": 32768, "65K": 65536, "100K": 100_000, "131K": 131_072}


@dataclass(frozen=True, slots=True)
class Need:
    """What a prompt size in so many slots would need. Extrapolated: `se_bytes` may be unknown."""

    tokens: int
    slots: int
    idle_bytes: int | None
    growth_bytes: float
    se_bytes: float | None

    @property
    def total_bytes(self) -> float:
        return (self.idle_bytes or 0) + self.growth_bytes


@dataclass(frozen=True, slots=True)
class Growth:
    """Sizes and bytes that were measured or imported, the line through them, and the limits."""

    tokens: list[int]
    grown_bytes: list[float]
    fit: Fit | None
    idle_bytes: int | None
    slots: int
    guard_bytes: int | None
    guard_origin: str
    host_bytes: int | None
    needs: list[Need]

    @property
    def is_extrapolated(self) -> bool:
        return bool(self.needs)

    @property
    def largest(self) -> int:
        return max(self.tokens, default=0)

    @property
    def bends(self) -> bool:
        return bends_upwards(self.tokens, self.grown_bytes)


def growth_points(revision: Revision) -> list[GrowthPoint]:
    """Of this revision alone: another configuration's memory says nothing about it."""
    points = GrowthPoint.objects.filter(
        run__revision_fingerprint=revision.fingerprint,
        run__deployment=revision.deployment,
        run__state=RunState.FINISHED,
    )
    return list(points.select_related("run").order_by("prompt_tokens", "pk"))


def settled(points: Iterable[GrowthPoint]) -> list[GrowthPoint]:
    """Clean, and followed by rests and a short other prompt, as the growth check does it.

    A cache that is saved late is then counted to its own prompt, not to the next one.
    """
    return [p for p in points if p.is_clean and p.after_other_bytes is not None]


def measured_growth(revision: Revision, points: Sequence[GrowthPoint]) -> Growth:
    counted = settled(points)
    newest = max((p.run_id for p in counted), default=None)
    of_newest = [p.before_bytes for p in counted if p.run_id == newest]
    return _growth(
        revision.deployment,
        revision,
        [p.prompt_tokens for p in counted],
        [float(p.grown_bytes) for p in counted],
        min(of_newest, default=None),
    )


def imported_growth(
    deployment: Deployment, revision: Revision | None, figures: Iterable[ImportedFigure]
) -> Growth:
    """A report's series of memory by prompt size. It does not tell what was idle before."""
    pairs = sorted(
        (SIZES[f.x_label], f.value * GIB)
        for f in figures
        if f.unit == "GiB" and f.x_label in SIZES and f.value is not None
    )
    return _growth(deployment, revision, [t for t, _ in pairs], [v for _, v in pairs], None)


def _growth(
    deployment: Deployment,
    revision: Revision | None,
    tokens: list[int],
    grown: list[float],
    idle: int | None,
) -> Growth:
    fit = straight_line(tokens, grown)
    limits = limits_for(revision, deployment.host)
    slots = (revision.parallel if revision else None) or 1
    told = fit is not None and fit.is_told_from_zero
    return Growth(
        tokens=tokens,
        grown_bytes=grown,
        fit=fit,
        idle_bytes=idle,
        slots=slots,
        guard_bytes=limits.process_bytes,
        guard_origin=limits.origin,
        host_bytes=deployment.host.memory_bytes,
        needs=_needs(fit, idle, slots) if fit and told else [],
    )


def _needs(fit: Fit, idle: int | None, slots: int) -> list[Need]:
    """Target and ceiling in one slot and in all. What does not depend on size counts once."""
    return [
        Need(
            tokens, n, idle, max(fit.intercept, 0.0) + n * fit.slope * tokens, _se(fit, tokens, n)
        )
        for tokens in (CONTEXT_TARGET, CONTEXT_CEILING)
        for n in sorted({1, slots})
    ]


def _se(fit: Fit, tokens: int, slots: int) -> float | None:
    """Of one slot's line, and of the slope for the slots that come on top."""
    at_one = fit.se_at(tokens)
    if at_one is None or fit.slope_se is None:
        return None
    return math.hypot(at_one, (slots - 1) * tokens * fit.slope_se)
