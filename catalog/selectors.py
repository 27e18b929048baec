"""Reading the catalog: configurations in words, hosts, claims, reported failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from catalog.models import Claim, Host, InventoryName, ReportedFailure, Revision, Runtime

METRIC_TITLES = {
    "ttft_mean_s": "TTFT, mean",
    "ttft_s": "TTFT",
    "wall_s": "wall time",
    "latency_mean_s": "latency, mean",
    "prompt_tps": "prompt throughput",
    "decode_tps": "decode",
    "completion_tokens": "completion",
    "stopped_near_tokens": "stopped near",
    "rss_gib": "RSS",
    "memory_gib": "memory",
    "rps": "requests",
    "errors": "errors",
    "completed": "completed",
    "passed": "result",
    "observation": "seen",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of a configuration; `value` None means that nobody recorded it."""

    title: str
    value: Any
    unit: str = ""


def settings_of(revision: Revision) -> list[Setting]:
    """The exact configuration, line by line."""
    main = [
        Setting("Runtime build", revision.runtime_build.version or None),
        Setting("Runtime parallel", revision.parallel, "slots"),
        Setting("Context, total", revision.context_total, "tokens"),
        Setting("Context per slot", revision.context_per_slot, "tokens"),
        Setting("KV type", revision.kv_type or None),
        Setting("Prompt cache", revision.prompt_cache_mib, "MiB"),
        Setting("Checkpoints", revision.checkpoints, ""),
    ]
    others = {**revision.admission, **revision.guards, **revision.extra}
    return main + [Setting(_words(key), _plain(value)) for key, value in others.items()]


def _words(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _plain(value: Any) -> Any:
    """A range as "1 to 2", a switch as yes or no, everything else as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " to ".join(str(item) for item in value)
    return value


def hosts() -> QuerySet[Host]:
    """Hosts with how many deployments each has."""
    used = Count("deployments", filter=Q(deployments__is_archived=False))
    return Host.objects.annotate(deployment_count=used).order_by("name")


def runtimes() -> QuerySet[Runtime]:
    """Runtimes with their builds and how many deployments use each."""
    used = Count("deployments", filter=Q(deployments__is_archived=False))
    return Runtime.objects.annotate(deployment_count=used).prefetch_related("builds")


def claims() -> QuerySet[Claim]:
    """Somebody else's figures."""
    return Claim.objects.all()


def inventory_names() -> QuerySet[InventoryName]:
    """Names seen on a host that are no validated deployment."""
    return InventoryName.objects.all()


def reported_failures() -> QuerySet[ReportedFailure]:
    """What a report saw fail, and how it would prevent it."""
    return ReportedFailure.objects.all()
