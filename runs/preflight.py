"""What stands in the way of a run, looked at before it is started."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from catalog.models import Deployment, Endpoint
from runs.planning import RunRefused, active_endpoint, active_revision
from runs.selectors import has_worker, measuring_run

REACH_TIMEOUT_S = 1.0


class Level(StrEnum):
    OK = "ok"
    WAIT = "wait"  # the run can be started, and will wait or may fail
    STOP = "stop"  # the run would be refused


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the list: how it stands, and what would put it right."""

    level: Level
    title: str
    text: str = ""
    fix: str = ""


def preflight(deployment: Deployment, layer: str) -> list[Item]:
    """In the order in which things would go wrong."""
    items = [_revision(deployment)]
    try:
        endpoint = active_endpoint(deployment, layer)
    except RunRefused as refused:
        return [*items, Item(Level.STOP, "No endpoint", fix=str(refused))]
    return [*items, _reachable(endpoint), _worker(deployment), _host(deployment)]


def can_start(items: list[Item]) -> bool:
    return all(item.level != Level.STOP for item in items)


def _revision(deployment: Deployment) -> Item:
    try:
        revision = active_revision(deployment)
    except RunRefused as refused:
        return Item(Level.STOP, "No active revision", fix=str(refused))
    short = revision.fingerprint[:12]
    return Item(Level.OK, f"Revision {revision.number} is active", f"fingerprint {short}")


def _reachable(endpoint: Endpoint) -> Item:
    """A bounded TCP connect from the web process; the worker may see another network."""
    parts = urlsplit(endpoint.base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), REACH_TIMEOUT_S):
            return Item(
                Level.OK, "The server's port is open", f"{endpoint.base_url}, seen from here"
            )
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "no answer in time"
        return Item(
            Level.WAIT,
            "The server's port cannot be reached from here",
            f"{endpoint.base_url}: {reason.lower()}",
            "Start the server or correct the endpoint. A worker on another machine may reach it "
            "all the same.",
        )


def _worker(deployment: Deployment) -> Item:
    host = deployment.host
    if has_worker(host):
        return Item(Level.OK, f"A worker is alive for {host}", f"queue {host.queue}")
    return Item(
        Level.WAIT,
        f"No worker is alive for {host}",
        "The run would stay queued until one comes.",
        f"Start one on that machine for the queue {host.queue}; "
        "manage.py up starts one for the machine it runs on.",
    )


def _host(deployment: Deployment) -> Item:
    busy = measuring_run(deployment.host)
    if busy is None:
        return Item(Level.OK, f"{deployment.host} is free", "one run measures on a host at a time")
    return Item(
        Level.WAIT,
        f"{deployment.host} is measuring",
        f"Run #{busy.pk} has the host; this one would begin after it.",
    )
