"""What a run may cost: an estimate from earlier runs, and it says from which."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from django.db.models import Sum

from catalog.models import Deployment
from runs.models import Outcome, Run, RunRequest, RunState, Suite

LOOK_BACK = 10


@dataclass(frozen=True, slots=True)
class Estimate:
    """Over `n` earlier runs. What they did not record is None; `source` is in words."""

    source: str
    n: int = 0
    low_s: float | None = None
    typical_s: float | None = None
    high_s: float | None = None
    tokens: int | None = None  # prompt and completion together
    peak_bytes: int | None = None  # of the server, in the newest run


def estimate_cost(deployment: Deployment, suite: Suite, layer: str) -> Estimate:
    """From the newest runs of this suite version here that ran to their end."""
    same = Run.objects.filter(
        deployment=deployment, suite=suite, layer=layer, state=RunState.FINISHED
    ).exclude(outcome=Outcome.INCONCLUSIVE)
    runs = list(same.defer("plan", "report")[:LOOK_BACK])
    took = [took_s for run in runs if (took_s := run.took_s) is not None]
    if not took:
        return Estimate("This suite has not yet run to its end here.")
    which = "the last run" if len(took) == 1 else f"the last {len(took)} runs"
    return Estimate(
        f"from {which} of this suite here",
        len(took),
        min(took),
        median(took),
        max(took),
        _tokens(runs),
        _peak_bytes(runs[0]),
    )


def _peak_bytes(run: Run) -> int | None:
    """As the engine reported it: samples are thinned with time, the report is not."""
    path = "report__memory__peak_bytes"
    found: int | None = Run.objects.values_list(path, flat=True).get(pk=run.pk)
    return found


def _tokens(runs: list[Run]) -> int | None:
    """The median run's tokens, where servers counted them."""
    rows = RunRequest.objects.filter(run__in=runs).order_by().values("run")
    sums = rows.annotate(prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"))
    totals = [row["prompt"] + (row["completion"] or 0) for row in sums if row["prompt"]]
    return round(median(totals)) if totals else None
