"""How long a run may take: an estimate from earlier runs, and it says from which."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from catalog.models import Deployment
from runs.models import Outcome, Run, RunState, Suite

LOOK_BACK = 10


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds, over `n` earlier runs. Without any, `source` says so and the rest is None."""

    source: str
    n: int = 0
    low_s: float | None = None
    typical_s: float | None = None
    high_s: float | None = None


def estimate_duration(deployment: Deployment, suite: Suite, layer: str) -> Estimate:
    """From the newest runs of this suite version here that ran to their end."""
    same = Run.objects.filter(
        deployment=deployment, suite=suite, layer=layer, state=RunState.FINISHED
    ).exclude(outcome=Outcome.INCONCLUSIVE)
    times = same.values_list("started_at", "finished_at")[:LOOK_BACK]
    took = [(end - start).total_seconds() for start, end in times if start and end]
    if not took:
        return Estimate("This suite has not yet run to its end here.")
    word = "run" if len(took) == 1 else "runs"
    source = f"from the last {len(took)} {word} of this suite here"
    return Estimate(source, len(took), min(took), median(took), max(took))
