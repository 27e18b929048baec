"""Reads about runs that several pages share."""

from __future__ import annotations

from statistics import median

from django.db.models import Count, QuerySet

from catalog.models import Host
from runs.models import HostLease, Outcome, Run, RunRequest, RunState, Suite
from runs.workers import alive_workers


def listed_runs() -> QuerySet[Run]:
    """Runs for a list: with their names, without their plans and reports."""
    return (
        Run.objects.select_related("deployment", "suite", "host", "revision")
        .defer("plan", "report")
        .annotate(finished_requests=Count("requests"))
        .order_by("-pk")
    )


def median_ttft_by_run(run_ids: list[int]) -> dict[int, tuple[float, int]]:
    """Median TTFT in ms and n, over fresh requests that passed. Runs without any are left out."""
    rows = RunRequest.objects.filter(
        run_id__in=run_ids, outcome=Outcome.CLEAN_PASS, ttft_ms__isnull=False
    ).exclude(cache="repeat")
    values: dict[int, list[float]] = {}
    for run_id, ttft_ms in rows.values_list("run_id", "ttft_ms"):
        values.setdefault(run_id, []).append(ttft_ms or 0.0)
    return {run_id: (median(ttfts), len(ttfts)) for run_id, ttfts in values.items()}


def twin_of(request: RunRequest) -> RunRequest | None:
    """A fresh prompt's exact repeat, or the fresh prompt that a repeat resends."""
    same = RunRequest.objects.filter(run_id=request.run_id, check_key=request.check_key)
    if request.cache == "repeat":
        return same.filter(cache="fresh", index__lt=request.index).order_by("index").last()
    if request.cache == "fresh":
        return same.filter(cache="repeat", index__gt=request.index).order_by("index").first()
    return None


def current_suites() -> QuerySet[Suite]:
    return Suite.objects.filter(is_current=True).order_by("name")


def measuring_run(host: Host) -> Run | None:
    """The run that has the host now."""
    lease = HostLease.objects.filter(host=host, run__state=RunState.RUNNING).first()
    return lease.run if lease else None


def has_worker(host: Host) -> bool:
    return alive_workers().filter(host_key=host.key).exists()
