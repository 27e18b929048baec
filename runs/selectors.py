"""Reads about runs that several pages share."""

from __future__ import annotations

from statistics import median

from django.db.models import Count, Q, QuerySet

from catalog.models import Host, Task
from runs.models import HostLease, Outcome, Run, RunRequest, RunState, Suite
from runs.workers import alive_workers

SHORT_PROMPT_TOKENS = 1024
# TTFT is comparable only where prompts are short, fresh, and one at a time.
SHORT_AND_FRESH = Q(
    Q(prompt_tokens__isnull=True) | Q(prompt_tokens__lte=SHORT_PROMPT_TOKENS),
    outcome=Outcome.CLEAN_PASS,
    cache="fresh",
    streamed=True,
    client_concurrency=1,
)
FIRST_SUITE = {Task.EMBEDDING: "pooling", Task.RERANK: "rerank-pooling"}
POOLING = {Task.EMBEDDING: ("embeddings",), Task.RERANK: ("rerank",)}


def listed_runs() -> QuerySet[Run]:
    """Runs for a list: with their names, without their plans and reports."""
    return (
        Run.objects.select_related("deployment", "suite", "host", "revision")
        .defer("plan", "report")
        .annotate(finished_requests=Count("requests"))
        .order_by("-pk")
    )


def median_ttft_by_run(run_ids: list[int]) -> dict[int, tuple[float, int]]:
    """Median TTFT in ms and n, over short fresh prompts; a run without any is left out."""
    rows = RunRequest.objects.filter(SHORT_AND_FRESH, run_id__in=run_ids, ttft_ms__isnull=False)
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


def first_suite(task: str) -> str:
    """The key of the suite to begin with."""
    return FIRST_SUITE.get(Task(task), "smoke") if task in Task.values else "smoke"


def suites_by_fit(task: str) -> tuple[list[Suite], list[Suite]]:
    """The current suites that fit a model's task, and the others."""
    suites = list(current_suites())
    fitting = [suite for suite in suites if fits(suite, task)]
    return fitting, [suite for suite in suites if suite not in fitting]


def fits(suite: Suite, task: str) -> bool:
    """Whether what the suite asks is what such a model does; identity fits everything."""
    asked = {check["key"] for check in suite.checks} - {"identity"}
    pooling = {key for keys in POOLING.values() for key in keys}
    if task in POOLING:
        return asked <= set(POOLING[Task(task)])
    return not asked & pooling


def measuring_run(host: Host) -> Run | None:
    """The run that has the host now."""
    lease = HostLease.objects.filter(host=host, run__state=RunState.RUNNING).first()
    return lease.run if lease else None


def has_worker(host: Host) -> bool:
    return alive_workers().filter(host_key=host.key).exists()
