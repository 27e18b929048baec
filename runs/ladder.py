"""The ladder of a deployment's layers: which is proven for its active revision, and which may be
counted. A later layer counts only when every earlier one that has an endpoint is proven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from catalog.models import Deployment, Layer, Revision
from runs.models import Outcome, Run, RunState

ORDER = (Layer.PROCESS, Layer.DIRECT, Layer.GATEWAY, Layer.PROXY)
SUITES = {
    Layer.PROCESS: "smoke",
    Layer.DIRECT: "contract",
    Layer.GATEWAY: "gateway",
    Layer.PROXY: "proxy",
}
OURS = ("cancelled", "interrupted", "probe_limit")


class Rung(StrEnum):
    PROVEN = "proven"
    FAILED = "failed"
    NOT_TRIED = "not tried"
    NO_ENDPOINT = "no endpoint"
    NOT_YET = "not yet countable"


@dataclass(frozen=True, slots=True)
class RunFact:
    """The newest run through a layer that told something."""

    run_id: int
    outcome: str
    failure_class: str
    explanation: str
    suite: str
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class Step:
    """One layer. `suite` is what proves it."""

    layer: str
    rung: Rung
    sentence: str
    fact: RunFact | None
    suite: str

    @property
    def mark(self) -> str:
        """The outcome whose colour and shape tell it."""
        return {
            Rung.PROVEN: "clean_pass",
            Rung.FAILED: "fail",
            Rung.NOT_YET: "inconclusive",
        }.get(self.rung, "queued")


def ladder(layers: Sequence[str], newest: Mapping[str, RunFact]) -> list[Step]:
    """`layers`: those with an endpoint; `newest`: what their last telling run found. Pure."""
    steps: list[Step] = []
    for layer in ORDER:
        if layer not in layers:
            if layer == Layer.PROCESS:
                continue  # read beside the direct layer; it seldom has an address of its own
            steps.append(step(layer, Rung.NO_ENDPOINT, "No endpoint is registered.", None))
            continue
        steps.append(judged(layer, newest.get(layer), steps))
    return steps


def judged(layer: Layer, fact: RunFact | None, below: Sequence[Step]) -> Step:
    if fact is None:
        return step(layer, Rung.NOT_TRIED, "No run of the active revision.", None)
    if fact.outcome != Outcome.CLEAN_PASS:
        cause = fact.failure_class.replace("_", " ")
        return step(layer, Rung.FAILED, f"{cause}: {fact.explanation}", fact)
    missing = [one.layer for one in below if one.rung not in (Rung.PROVEN, Rung.NO_ENDPOINT)]
    if missing:
        said = f"It passed, but {' and '.join(missing)} must be proven first."
        return step(layer, Rung.NOT_YET, said, fact)
    return step(layer, Rung.PROVEN, f"{fact.suite} was a clean pass.", fact)


def step(layer: Layer, rung: Rung, sentence: str, fact: RunFact | None) -> Step:
    return Step(layer.value, rung, sentence, fact, SUITES[layer])


def ladder_of(deployment: Deployment, revision: Revision | None) -> list[Step]:
    """By the active revision's runs alone; two queries."""
    active = deployment.endpoints.filter(is_active=True)
    layers = list(active.values_list("layer", flat=True))
    return ladder(layers, newest_of(revision) if revision else {})


def newest_of(revision: Revision) -> dict[str, RunFact]:
    """What we broke off tells nothing, so the run before it does; nor does a campaign's cycle."""
    rows = (
        Run.objects.filter(revision=revision, state=RunState.FINISHED, cycle__isnull=True)
        .exclude(failure_class__in=OURS)
        .order_by("layer", "-pk")
        .select_related("suite")
        .defer("plan", "report")
    )
    newest: dict[str, RunFact] = {}
    for run in rows.iterator():
        if run.layer not in newest and run.finished_at is not None:
            newest[run.layer] = RunFact(
                run.pk,
                run.outcome,
                run.failure_class,
                run.explanation,
                run.suite.name,
                run.finished_at,
            )
    return newest
