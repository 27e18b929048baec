"""Taking in what a proxy reports, line by line, so that sending it again does no harm."""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from django.db import transaction
from django.utils import timezone

from catalog.models import Deployment, Layer, Task
from people.access import Action, require
from people.models import User
from runs.traffic.hours import add_to_hours
from runs.traffic.judging import Reported, judge
from runs.traffic.models import Batch, Record
from runs.traffic.reading import LineRefused, digest, read_line
from runs.traffic.routes import Belonging

MOST_LINES = 2_000_000
CHUNK = 2_000
REFUSALS_KEPT = 100
LAYERS = (Layer.GATEWAY, Layer.PROXY, Layer.DIRECT)  # at `process` nothing is completed
LONGEST_SOURCE = 80


class TrafficRefused(ValueError):
    """A delivery cannot be taken at all; the message says why and what to do."""


@dataclass(slots=True)
class Report:
    """What became of a delivery. `refusals` holds the first lines that were refused, and why."""

    batch_id: int
    lines: int = 0
    accepted: int = 0
    duplicates: int = 0
    refused: int = 0
    refusals: list[dict[str, object]] = field(default_factory=list)
    is_cut: bool = False  # more lines came than one delivery may have; the rest was not read

    def refuse(self, line: int, why: str) -> None:
        self.refused += 1
        if len(self.refusals) < REFUSALS_KEPT:
            self.refusals.append({"line": line, "why": why})


def ingest(
    *, actor: User, deployment: Deployment, layer: str, source: str, lines: Iterable[bytes]
) -> Report:
    """Store the records on these lines; each once, by the id that `source` gave it.

    Lines are read as they come and stored some thousand at a time: what breaks off in the middle
    keeps what was stored, and may be sent again whole.
    Raises PermissionDenied; TrafficRefused for a layer or source that is none.
    """
    require(actor, Action.IMPORT_TRAFFIC)
    return _ingest(deployment, layer, source, lines, by=actor, by_name=actor.get_username())


def ingest_from_command_line(
    *, deployment: Deployment, layer: str, source: str, lines: Iterable[bytes]
) -> Report:
    """`ingest` for whoever may use this machine's shell. Raises TrafficRefused."""
    name = f"{getpass.getuser()} (command line)"
    return _ingest(deployment, layer, source, lines, by=None, by_name=name)


def _ingest(
    deployment: Deployment,
    layer: str,
    source: str,
    lines: Iterable[bytes],
    *,
    by: User | None,
    by_name: str,
) -> Report:
    check_delivery(layer, source)
    batch = Batch.objects.create(
        deployment=deployment, layer=layer, source=source, by=by, by_name=by_name
    )
    report = Report(batch.pk)
    belonging = Belonging(deployment, layer)
    whole = hashlib.sha256()
    numbered = enumerate(lines, start=1)
    while chunk := list(islice(numbered, CHUNK)):
        if report.lines + len(chunk) > MOST_LINES:
            report.is_cut = True
            break
        for _, line in chunk:
            whole.update(line)
        _store(batch, belonging, chunk, report)
    batch.digest = whole.hexdigest()
    batch.finished_at = timezone.now()
    batch.save()
    return report


def check_delivery(layer: str, source: str) -> None:
    """Raises TrafficRefused."""
    if layer not in LAYERS:
        raise TrafficRefused(f"Traffic comes from one of the layers {', '.join(LAYERS)}.")
    if not 1 <= len(source) <= LONGEST_SOURCE or not source.isprintable():
        raise TrafficRefused(
            f"Name the source, which proxy reports this, in 1 to {LONGEST_SOURCE} characters."
        )


@transaction.atomic
def _store(
    batch: Batch, belonging: Belonging, chunk: list[tuple[int, bytes]], report: Report
) -> None:
    """One chunk with what it adds to its hours and to its batch: all of it or nothing."""
    # One delivery at a time for a deployment: two with the same ids must meet in turn.
    Deployment.objects.select_for_update().get(pk=batch.deployment_id)
    read = list(_read(belonging, chunk, report))
    new = list(_unknown(batch, read, report))
    Record.objects.bulk_create(new, batch_size=500)
    add_to_hours(new)
    report.lines += len(chunk)
    report.accepted += len(new)
    batch.lines, batch.accepted = report.lines, report.accepted
    batch.duplicates, batch.refused = report.duplicates, report.refused
    batch.refusals = report.refusals
    batch.save()


def _read(
    belonging: Belonging, chunk: list[tuple[int, bytes]], report: Report
) -> Iterator[tuple[int, Reported, int]]:
    """(line number, what it tells, revision); empty lines are passed over."""
    now = timezone.now()
    for number, line in chunk:
        if not line.strip():
            continue
        try:
            told = read_line(line, now=now)
            belonging.check(told.route)
            yield number, told, belonging.revision_at(told.at)
        except LineRefused as refused:
            report.refuse(number, str(refused))


def _unknown(
    batch: Batch, read: list[tuple[int, Reported, int]], report: Report
) -> Iterator[Record]:
    """Records whose id was never sent before; others are duplicates or contradict."""
    known = dict(
        Record.objects.filter(
            deployment_id=batch.deployment_id,
            source=batch.source,
            external_id__in=[told.id for _, told, _ in read],
        ).values_list("external_id", "digest")
    )
    for number, told, revision_id in read:
        mark = digest(told, batch.layer)
        if known.setdefault(told.id, "") == "":
            known[told.id] = mark
            yield _record(batch, told, revision_id, mark)
        elif known[told.id] == mark:
            report.duplicates += 1
        else:
            report.refuse(number, "its id was sent before with other content, which is kept")


def _record(batch: Batch, told: Reported, revision_id: int, mark: str) -> Record:
    is_pooling = batch.deployment.artifact.task in (Task.EMBEDDING, Task.RERANK)
    outcome, failure_class = judge(told, is_pooling=is_pooling)
    return Record(
        deployment_id=batch.deployment_id,
        revision_id=revision_id,
        batch=batch,
        layer=batch.layer,
        source=batch.source,
        external_id=told.id,
        digest=mark,
        at=told.at,
        route=told.route,
        status=told.status,
        streamed=told.streamed,
        done_seen=told.done_seen,
        finish_reason=told.finish_reason,
        ttft_ms=told.ttft_ms,
        wall_ms=told.wall_ms,
        prompt_tokens=told.prompt_tokens,
        completion_tokens=told.completion_tokens,
        error=told.error,
        outcome=outcome,
        failure_class=failure_class,
    )
