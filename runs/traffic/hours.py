"""Adding stored records to their hours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from runs.models import Outcome
from runs.traffic.histogram import add
from runs.traffic.models import Hour, Record

Key = tuple[int, str, datetime]  # revision, layer, start


def add_to_hours(records: Iterable[Record]) -> None:
    """Call it in the transaction that stores the records, one at a time for a deployment."""
    by_hour: dict[Key, list[Record]] = defaultdict(list)
    for record in records:
        start = record.at.replace(minute=0, second=0, microsecond=0)
        by_hour[record.revision_id, record.layer, start].append(record)
    known = _known(by_hour)
    Hour.objects.bulk_create(
        [_added(key, group, known.get(key)) for key, group in by_hour.items()],
        update_conflicts=True,
        unique_fields=["revision", "layer", "start"],
        update_fields=["completed", "not_completed", "undecided", "ttft_max_ms", "ttft_counts"],
    )


def _known(keys: Iterable[Key]) -> dict[Key, Hour]:
    revisions, layers, starts = zip(*keys, strict=True) if keys else ((), (), ())
    hours = Hour.objects.filter(
        revision_id__in=set(revisions), layer__in=set(layers), start__in=set(starts)
    )
    return {(hour.revision_id, hour.layer, hour.start): hour for hour in hours}


def _added(key: Key, records: list[Record], known: Hour | None) -> Hour:
    """The hour as it is after these, not saved."""
    revision_id, layer, start = key
    hour = known or Hour(
        deployment_id=records[0].deployment_id,
        revision_id=revision_id,
        layer=layer,
        start=start,
    )
    hour.pk = None
    completed = [r for r in records if r.outcome == Outcome.CLEAN_PASS]
    undecided = [r for r in records if r.outcome == Outcome.INCONCLUSIVE]
    hour.completed += len(completed)
    hour.undecided += len(undecided)
    hour.not_completed += len(records) - len(completed) - len(undecided)
    ttfts = [r.ttft_ms for r in completed if r.ttft_ms is not None and r.streamed]
    if ttfts:
        hour.ttft_counts = add(hour.ttft_counts, ttfts)
        hour.ttft_max_ms = max(*ttfts, hour.ttft_max_ms or 0.0)
    return hour
