"""Reading what proxies reported: exact counts, pages by time, hours, the worst."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q, QuerySet

from catalog.models import Deployment, Revision
from runs.models import Outcome
from runs.traffic.histogram import Counts, merge
from runs.traffic.models import Batch, Hour, Record

NOT_COMPLETED = (Outcome.FAIL, Outcome.DEGRADED)


@dataclass(frozen=True, slots=True)
class Counted:
    """Reported requests by what they count as. Undecided ones are neither good nor bad."""

    completed: int = 0
    not_completed: int = 0
    undecided: int = 0

    @property
    def total(self) -> int:
        return self.completed + self.not_completed + self.undecided

    @property
    def share(self) -> float | None:
        """Completed of those that were decided; None without any."""
        decided = self.completed + self.not_completed
        return self.completed / decided if decided else None


def completed_between(
    deployment: Deployment, revision: Revision, layer: str, start: datetime, end: datetime
) -> Counted:
    """What was reported of this revision through this layer in [start, end). Origin: server."""
    if revision.deployment_id != deployment.pk:
        return Counted()
    # Only what one index holds is asked for, so that no record itself is read.
    rows = Record.objects.filter(revision=revision, layer=layer, at__gte=start, at__lt=end)
    by_outcome = dict(rows.order_by().values_list("outcome").annotate(n=Count("*")))
    return Counted(
        completed=by_outcome.get(Outcome.CLEAN_PASS, 0),
        not_completed=sum(by_outcome.get(outcome, 0) for outcome in NOT_COMPLETED),
        undecided=by_outcome.get(Outcome.INCONCLUSIVE, 0),
    )


def hours(deployment: Deployment, layer: str, start: datetime, end: datetime) -> list[Hour]:
    """The hours with records in [start, end); a changed revision splits an hour in two rows."""
    rows = Hour.objects.filter(deployment=deployment, layer=layer, start__gte=start, start__lt=end)
    return list(rows.select_related("revision").order_by("start", "revision_id"))


def added_up(rows: Iterable[Hour]) -> tuple[Counted, Counts]:
    """Counts and TTFT histogram of all these hours."""
    known = list(rows)
    return counted_of(known), merge(row.ttft_counts for row in known)


def record_page(
    deployment: Deployment,
    layer: str,
    *,
    outcome: str = "",
    before: tuple[datetime, int] | None = None,
    size: int = 50,
) -> list[Record]:
    """Newest first, `size` after the place `before` (time and id of the last one shown)."""
    rows = Record.objects.filter(deployment=deployment, layer=layer)
    if outcome:
        rows = rows.filter(outcome=outcome)
    if before:
        at, pk = before
        # The first condition lets the index begin there; the second tells equal times apart.
        rows = rows.filter(at__lte=at).exclude(at=at, pk__gte=pk)
    return list(rows.select_related("revision").order_by("-at", "-pk")[:size])


def slowest(rows: Iterable[Hour], count: int = 10) -> list[Record]:
    """The completed ones that were longest without a token.

    They lie in the hours with the greatest maxima, so only as many hours are read.
    """
    seen = (hour for hour in rows if hour.ttft_max_ms is not None)
    worst = sorted(seen, key=lambda hour: -(hour.ttft_max_ms or 0.0))[:count]
    within = Q(pk__in=[])
    for hour in worst:
        end = hour.start + timedelta(hours=1)
        within |= Q(revision=hour.revision_id, layer=hour.layer, at__gte=hour.start, at__lt=end)
    found = Record.objects.filter(within, outcome=Outcome.CLEAN_PASS, streamed=True)
    found = found.filter(ttft_ms__isnull=False).order_by("-ttft_ms", "-pk")
    return list(found.select_related("revision")[:count])


def failure_classes(
    deployment: Deployment, layer: str, start: datetime
) -> list[tuple[str, str, int]]:
    """(class, outcome, n) of what was no clean pass since `start`, the most frequent first."""
    rows = Record.objects.filter(
        deployment=deployment,
        layer=layer,
        outcome__in=(*NOT_COMPLETED, Outcome.INCONCLUSIVE),
        at__gte=start,
    )
    counted = rows.order_by().values_list("failure_class", "outcome").annotate(n=Count("*"))
    return list(counted.order_by("-n", "failure_class"))


def batches(deployment: Deployment | None = None) -> QuerySet[Batch]:
    rows = Batch.objects.select_related("deployment__artifact").order_by("-pk")
    return rows.filter(deployment=deployment) if deployment else rows


def layers_seen(deployment: Deployment) -> list[str]:
    """Layers that anything was reported for, the latest reported first."""
    seen = Hour.objects.filter(deployment=deployment).values_list("layer")
    return [row[0] for row in seen.annotate(last=Max("start")).order_by("-last", "-layer")]


@dataclass(frozen=True, slots=True)
class Overview:
    """One deployment and layer that traffic was reported for, since `start`."""

    deployment: Deployment
    layer: str
    counted: Counted
    last: datetime


def overviews(start: datetime) -> list[Overview]:
    """Each deployment and layer with its counts, the latest first. Two queries."""
    rows: dict[tuple[int, str], list[Hour]] = {}
    recent = Hour.objects.filter(start__gte=start).defer("ttft_counts").order_by("start")
    for hour in recent:
        rows.setdefault((hour.deployment_id, hour.layer), []).append(hour)
    deployments = Deployment.objects.select_related("artifact", "runtime", "host").in_bulk(
        {pk for pk, _ in rows}
    )
    found = [
        Overview(deployments[pk], layer, counted_of(known), known[-1].start)
        for (pk, layer), known in rows.items()
    ]
    return sorted(found, key=lambda overview: overview.last, reverse=True)


def counted_of(rows: list[Hour]) -> Counted:
    return Counted(
        completed=sum(row.completed for row in rows),
        not_completed=sum(row.not_completed for row in rows),
        undecided=sum(row.undecided for row in rows),
    )
