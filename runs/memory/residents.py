"""What is on a host now, by deployment: looked at where we are, last seen elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import psutil
from django.conf import settings
from django.utils import timezone

from catalog.models import Deployment, Host
from runs.engine.memory.bounded import Bounded, Hung
from runs.engine.memory.looker import Looker
from runs.engine.memory.process import NotMeasurable
from runs.engine.memory.system import system_memory
from runs.memory.budget import limits_for
from runs.memory.metrics import METRICS, best_figure
from runs.memory.reading import read_series, series_names
from runs.models import Run

LOOK_S = 2.0  # the system may hang while a process is read


@dataclass(frozen=True, slots=True)
class Resident:
    """One deployment's processes. `held_bytes` None: `reason` says why nothing is known."""

    deployment: Deployment
    held_bytes: int | None = None
    figure: str = ""
    seen_at: datetime | None = None
    pid: int | None = None
    reason: str = ""
    limit_bytes: int | None = None
    limit_origin: str = ""


@dataclass(frozen=True, slots=True)
class HostMemory:
    """`available_bytes` only for the machine we are on."""

    total_bytes: int | None
    available_bytes: int | None
    residents: list[Resident]

    @property
    def held_bytes(self) -> int:
        """Each process once: two deployments may share a server."""
        held = {r.pid or f"d{r.deployment.pk}": r.held_bytes or 0 for r in self.residents}
        return sum(held.values())

    @property
    def seen(self) -> list[Resident]:
        return [r for r in self.residents if r.held_bytes is not None]


def host_memory(host: Host) -> HostMemory:
    deployments = (
        Deployment.objects.filter(host=host, is_archived=False)
        .select_related("artifact", "runtime", "host")
        .prefetch_related("endpoints", "revisions")
    )
    here = host.key == settings.LOCAL_HOST_KEY
    system = system_memory() if here else {}
    look = seen_here if here else seen_last
    found = [look(deployment) for deployment in deployments]
    return HostMemory(
        host.memory_bytes or system.get("system_total_bytes"),
        system.get("system_available_bytes"),
        sorted(found, key=lambda r: -(r.held_bytes or -1)),
    )


def seen_here(deployment: Deployment) -> Resident:
    """The process behind the deployment's own endpoint, as it is this moment."""
    endpoint = next((e for e in deployment.endpoints.all() if e.is_active), None)
    if endpoint is None:
        return _resident(deployment, reason="It has no endpoint.")
    try:
        process, memory = Bounded(Looker(endpoint.base_url).look, LOOK_S)()
    except (NotMeasurable, psutil.Error) as error:
        return _resident(deployment, reason=str(error))
    except Hung:
        return _resident(deployment, reason="The system did not tell its memory in time.")
    figure = "footprint_bytes" if memory.footprint_bytes is not None else "rss_bytes"
    return _resident(
        deployment,
        held_bytes=getattr(memory, figure),
        figure=METRICS[figure].title,
        seen_at=timezone.now(),
        pid=process.pid,
    )


def seen_last(deployment: Deployment) -> Resident:
    """The last sample of the newest run that has one: its age is told beside it."""
    run = Run.objects.filter(deployment=deployment, series__isnull=False).order_by("-pk").first()
    figure = best_figure(series_names(run.pk)) if run else None
    if run is None or figure is None:
        return _resident(deployment, reason="No worker on its host has sampled its memory.")
    values = read_series(run.pk, figure).values
    seen = values[np.isfinite(values)]
    if not len(seen):
        return _resident(deployment, reason="Its process was not seen.")
    return _resident(
        deployment,
        held_bytes=int(seen[-1]),
        figure=METRICS[figure].title,
        seen_at=run.finished_at or run.heartbeat_at,
    )


def _resident(
    deployment: Deployment,
    *,
    reason: str = "",
    held_bytes: int | None = None,
    figure: str = "",
    seen_at: datetime | None = None,
    pid: int | None = None,
) -> Resident:
    revision = next((r for r in deployment.revisions.all() if r.is_active), None)
    limits = limits_for(revision, deployment.host)
    return Resident(
        deployment=deployment,
        held_bytes=held_bytes,
        figure=figure,
        seen_at=seen_at,
        pid=pid,
        reason=reason,
        limit_bytes=limits.process_bytes,
        limit_origin=limits.origin,
    )
