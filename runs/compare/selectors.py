"""The sides of a comparison: runs, revisions or deployments, each with its values by contract."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catalog.models import Deployment, Revision
from catalog.selectors import settings_of
from runs.compare.contract import Contract, rounded_size
from runs.compare.models import Baseline
from runs.models import Outcome, Run, RunRequest, RunState

NEWEST_RUNS = 20
MOST_SIDES = 4
CLIENT = {"ttft_ms": "TTFT ms", "end_ms": "Whole request ms", "decode_tps": "Decode tok/s"}
SERVER = {
    "prompt_per_second": "Prefill tok/s",
    "predicted_per_second": "Decode tok/s",
}
Values = dict[Contract, dict[str, list[float]]]


@dataclass(frozen=True, slots=True)
class Side:
    """One thing to compare. `role`: historical baseline, active route, or empty."""

    name: str
    deployment: Deployment
    revision: Revision
    runs: tuple[int, ...]
    newest: datetime | None
    values: Values
    role: str = ""


def side_of_run(run: Run, role: str = "") -> Side:
    return make_side(f"Run #{run.pk}", run.deployment, run.revision, [run], role)


def side_of_revision(revision: Revision, role: str = "") -> Side:
    """Its newest clean runs of their own, through any layer; campaigns' cycles left out."""
    runs = (
        Run.objects.filter(
            revision=revision,
            state=RunState.FINISHED,
            outcome=Outcome.CLEAN_PASS,
            cycle__isnull=True,
        )
        .select_related("host")
        .defer("report")
        .order_by("-pk")[:NEWEST_RUNS]
    )
    name = f"{revision.deployment} r{revision.number}"
    return make_side(name, revision.deployment, revision, list(runs), role)


def side_of_deployment(deployment: Deployment) -> Side | None:
    """Its active revision, which is what its route answers with now."""
    revision = deployment.revisions.filter(is_active=True).first()
    return side_of_revision(revision, role="active route") if revision else None


def side_of_baseline(baseline: Baseline) -> Side:
    return side_of_run(baseline.run, role="historical baseline")


def make_side(
    name: str, deployment: Deployment, revision: Revision, runs: Sequence[Run], role: str
) -> Side:
    ended = [run.finished_at for run in runs if run.finished_at]
    ids = tuple(run.pk for run in runs)
    return Side(name, deployment, revision, ids, max(ended, default=None), values_of(runs), role)


def values_of(runs: Sequence[Run]) -> Values:
    """Of requests that passed; one that did not could only flatter."""
    by_id = {run.pk: run for run in runs}
    rows = RunRequest.objects.filter(run__in=list(by_id), outcome=Outcome.CLEAN_PASS).exclude(
        label="calibration"
    )
    found: Values = defaultdict(lambda: defaultdict(list))
    names = ("run_id", "check_key", "prompt_tokens", "cache", "streamed", "client_concurrency")
    for row in rows.values(*names, *CLIENT, "record__server"):
        run = by_id[row["run_id"]]
        put(found, contract_of(row, run, "client"), {name: row[name] for name in CLIENT})
        told = row["record__server"] or {}
        put(found, contract_of(row, run, "server"), {name: told.get(name) for name in SERVER})
    return {contract: dict(metrics) for contract, metrics in found.items()}


def put(found: Values, contract: Contract, told: dict[str, Any]) -> None:
    for name, value in told.items():
        if isinstance(value, int | float):
            found[contract][name].append(float(value))


def contract_of(row: dict[str, Any], run: Run, origin: str) -> Contract:
    return Contract(
        check=row["check_key"],
        size=rounded_size(row["prompt_tokens"]),
        cache=row["cache"],
        streamed=row["streamed"],
        clients=row["client_concurrency"],
        layer=run.layer,
        host=run.host.name,
        sampling=sampling_words(run.plan.get("sampling") or {}),
        origin=origin,
    )


def sampling_words(sampling: dict[str, Any]) -> str:
    return json.dumps(sampling, sort_keys=True) if sampling else "greedy"


def what_differs(sides: Sequence[Side]) -> list[tuple[str, list[str]]]:
    """Settings by title, one value a side; only those that are not the same."""
    rows: dict[str, list[str]] = {
        "Model": [f"{s.deployment.artifact} {s.deployment.artifact.quantization}" for s in sides],
        "Runtime": [str(side.revision.runtime_build) for side in sides],
        "Host": [str(side.deployment.host) for side in sides],
        "Revision": [f"{side.deployment} r{side.revision.number}" for side in sides],
    }
    told = [
        {s.title: "–" if s.value in (None, "") else f"{s.value} {s.unit}".strip()
         for s in settings_of(side.revision)}
        for side in sides
    ]  # fmt: skip
    for title in dict.fromkeys(title for one in told for title in one):
        rows.setdefault(title, [one.get(title, "–") for one in told])
    return [(title, values) for title, values in rows.items() if len(set(values)) > 1]


def sides_asked(
    runs: Iterable[int], revisions: Iterable[int], deployments: Iterable[str]
) -> list[Side]:
    """In the order asked, four at most. A single deployment is held against its baseline."""
    related = ("deployment__artifact", "deployment__host", "revision__runtime_build__runtime")
    found: list[Side] = []
    known = Run.objects.select_related(*related, "host").in_bulk(list(runs))
    found += [side_of_run(known[pk]) for pk in runs if pk in known]
    kept = Revision.objects.select_related(
        "deployment__artifact", "deployment__host", "runtime_build__runtime"
    ).in_bulk(list(revisions))
    found += [side_of_revision(kept[pk]) for pk in revisions if pk in kept]
    slugs = list(deployments)
    for deployment in Deployment.objects.filter(slug__in=slugs).select_related("artifact", "host"):
        baseline = Baseline.objects.filter(deployment=deployment).first()
        if baseline is not None and len(slugs) == 1:
            found.append(side_of_baseline(baseline))
        if side := side_of_deployment(deployment):
            found.append(side)
    return found[:MOST_SIDES]
