"""Reading what the inventory and a deployment's page show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.db.models import F, Prefetch, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from catalog.models import Artifact, Deployment, Layer, Revision
from runs.models import Outcome, Run, RunRequest, RunState
from runs.selectors import SHORT_AND_FRESH
from verdicts.inventory import IndexRow
from verdicts.models import Verdict, VerdictState
from verdicts.policies.dots import Dots, dots_of
from verdicts.policies.roles import role_of
from verdicts.proof import proof_words

NEWEST_REQUESTS = 200
SEARCH_LIMIT = 25
UNREAD = ("cancelled", "interrupted", "connect_failed", "init_failed", "auth_failed")


@dataclass(frozen=True, slots=True)
class Median:
    """A median with how many values it is of."""

    value: float
    n: int


@dataclass(frozen=True, slots=True)
class InventoryRow:
    deployment: Deployment
    revision: Revision | None
    verdict: Verdict | None
    last_run: Run | None
    ttft_ms: Median | None
    decode_tps: Median | None
    dots: Dots | None

    @property
    def verdict_key(self) -> str:
        return self.verdict.state if self.verdict else "unreviewed"


def inventory_rows(index: list[IndexRow]) -> list[InventoryRow]:
    """The full rows of one page, in the order of the index; the same queries for any length."""
    ids = [row["id"] for row in index]
    active = Revision.objects.filter(is_active=True).select_related("runtime_build__runtime")
    deployments = (
        Deployment.objects.filter(pk__in=ids)
        .select_related("artifact", "runtime", "host")
        .prefetch_related(Prefetch("revisions", active, to_attr="active_revisions"))
        .in_bulk()
    )
    verdicts = Verdict.objects.in_bulk([r["verdict_id"] for r in index if r["verdict_id"]])
    runs = Run.objects.defer("plan", "report").in_bulk(
        [row["last_run"] for row in index if row["last_run"]]
    )
    ttft, decode = short_prompt_medians(ids)
    dots = dots_of(
        [
            (revision, role_of(deployments[row["id"]], verdicts.get(row["verdict_id"])))
            for row in index
            for revision in active_revisions(deployments[row["id"]])
        ],
        timezone.now(),
    )
    return [
        InventoryRow(
            deployment=deployments[row["id"]],
            revision=(revision := next(iter(active_revisions(deployments[row["id"]])), None)),
            dots=dots.get(revision.pk) if revision else None,
            verdict=verdicts.get(row["verdict_id"]),
            last_run=runs.get(row["last_run"]),
            ttft_ms=ttft.get(row["id"]),
            decode_tps=decode.get(row["id"]),
        )
        for row in index
    ]


def active_revisions(deployment: Deployment) -> list[Revision]:
    """What `inventory_rows` prefetched."""
    found: list[Revision] = vars(deployment).get("active_revisions", [])
    return found


def short_prompt_medians(ids: Iterable[int]) -> tuple[dict[int, Median], dict[int, Median]]:
    """TTFT in ms and decode in tok/s by deployment, client-measured.

    Only fresh, streamed, one-at-a-time requests with a short prompt that passed in clean-pass
    runs of the active revision through the direct layer: anything else is another figure.
    """
    newest = Window(RowNumber(), partition_by=F("run__deployment_id"), order_by=F("pk").desc())
    requests = (
        RunRequest.objects.filter(
            SHORT_AND_FRESH,
            run__deployment__in=list(ids),
            run__outcome=Outcome.CLEAN_PASS,
            run__revision__is_active=True,
            run__layer=Layer.DIRECT,
        )
        .annotate(newest=newest)
        .filter(newest__lte=NEWEST_REQUESTS)
        .values_list("run__deployment_id", "ttft_ms", "decode_tps")
    )
    ttft: dict[int, list[float]] = defaultdict(list)
    decode: dict[int, list[float]] = defaultdict(list)
    for deployment_id, ttft_ms, decode_tps in requests:
        if ttft_ms is not None:
            ttft[deployment_id].append(ttft_ms)
        if decode_tps is not None:
            decode[deployment_id].append(decode_tps)
    return _medians(ttft), _medians(decode)


def _medians(values: dict[int, list[float]]) -> dict[int, Median]:
    return {key: Median(median(found), len(found)) for key, found in values.items()}


def why_not_primary(verdict: Verdict | None, left: str = "") -> str:
    """The sentence a person needs first: may this be used, if not more, why, and what is left."""
    if verdict is None:
        said = "Unreviewed: nobody has decided about it, so nothing may rely on it"
    elif verdict.state == VerdictState.PRIMARY:
        said = f"Primary: {verdict.role}" if verdict.role else "Primary"
    else:
        reason = (verdict.reason or verdict.label).rstrip(".") or "no reason was recorded"
        is_candidate = verdict.state == VerdictState.CANDIDATE
        said = f"Not primary {'yet' if is_candidate else 'because'}: {reason}"
    return f"{said} – {left}." if left else f"{said}."


def search(text: str) -> dict[str, Any]:
    """Deployments and artifacts that hold every word; a run by its number."""
    words = text.split()
    number = text.removeprefix("run").strip(" #")
    deployments = Deployment.objects.select_related("artifact", "runtime", "host")
    artifacts = Artifact.objects.all()
    for word in words:
        deployments = deployments.filter(
            Q(canonical_route__icontains=word)
            | Q(slug__icontains=word)
            | Q(artifact__name__icontains=word)
            | Q(artifact__quantization__icontains=word)
            | Q(runtime__name__icontains=word)
            | Q(host__name__icontains=word)
            | Q(report_id__iexact=word)
        )
        artifacts = artifacts.filter(
            Q(name__icontains=word)
            | Q(quantization__icontains=word)
            | Q(file_name__icontains=word)
            | Q(digest_sha256__istartswith=word)
            | Q(aliases__name__icontains=word)
        )
    is_number = number.isdecimal() and len(number) < 12
    return {
        "deployments": deployments[:SEARCH_LIMIT] if words else [],
        "artifacts": artifacts.distinct().prefetch_related("deployments__runtime")[:SEARCH_LIMIT]
        if words
        else [],
        "run": Run.objects.select_related("deployment__artifact", "suite")
        .filter(pk=int(number))
        .first()
        if is_number
        else None,
    }


def recent_runs(deployment: Deployment, limit: int = 8) -> list[Run]:
    """The newest runs, without their long columns."""
    runs = deployment.runs.select_related("suite", "revision").defer("plan", "report")
    return list(runs.order_by("-pk")[:limit])


def proof_level(deployment: Deployment) -> dict[str, Any] | None:
    """What the last run that read it found about identity: level in words, status, sentence.

    A run that ended before it could read again tells nothing.
    """
    ended = deployment.runs.filter(state=RunState.FINISHED).exclude(failure_class__in=UNREAD)
    run = ended.order_by("-pk").first()
    identity = run.report.get("identity_after") if run else None
    if run is None or not identity:
        return None
    return {**identity, "words": proof_words(identity.get("level", 0)), "run": run}
