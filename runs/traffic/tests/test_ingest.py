from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from catalog.models import Alias, Deployment
from people.models import User
from runs.traffic import services
from runs.traffic.models import Batch, Hour, Record
from runs.traffic.reading import LONGEST_LINE, bounded_lines
from runs.traffic.selectors import Counted, completed_between, record_page
from runs.traffic.services import TrafficRefused, ingest
from runs.traffic.tests.conftest import Line

SECRET = "sk-abcdefghijklmnop"


def send(actor: User, deployment: Deployment, *lines: bytes, **more: str) -> services.Report:
    given = {"layer": "proxy", "source": "nginx", **more}
    return ingest(actor=actor, deployment=deployment, lines=lines, **given)


def test_two_hundred_alone_completes_nothing(
    olive: User, deployment: Deployment, line: Line
) -> None:
    expected: dict[str, dict[str, Any]] = {
        "": {},
        "missing_finish_reason": {"finish_reason": None},
        "missing_done": {"done_seen": None},
        "truncated_stream": {"done_seen": False, "finish_reason": None},
        "error_in_stream": {"error": f"boom, key {SECRET}"},
        "empty_response": {"completion_tokens": 0},
        "missing_usage": {"completion_tokens": ...},
        "length_cut": {"finish_reason": "length"},
        "cancelled": {"status": 499},
        "rate_limited": {"status": 429},
        "no_response": {"status": None, "error": "refused"},
        "gateway_timeout": {"status": 504},
    }
    send(olive, deployment, *(line(n, **more) for n, more in enumerate(expected.values())))
    found = Record.objects.order_by("pk")
    assert list(found.values_list("failure_class", flat=True)) == list(expected)
    assert Counter(found.values_list("outcome", flat=True)) == {
        "clean_pass": 1, "degraded": 4, "inconclusive": 2, "fail": 5,
    }  # fmt: skip
    assert SECRET not in found.get(failure_class="error_in_stream").error


def test_every_line_is_taken_or_refused_with_its_number_and_reason(
    olive: User, ada: User, deployment: Deployment, line: Line, hour: datetime
) -> None:
    Alias.objects.create(name="old-toy", kind="legacy", artifact=deployment.artifact)
    Deployment.objects.create(
        slug="other",
        canonical_route="other-route",
        artifact=deployment.artifact,
        runtime=deployment.runtime,
        host=deployment.host,
    )
    ahead = timezone.now() + timedelta(hours=1)
    refused = [
        (b"{nonsense " + SECRET.encode(), "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"[" * 5000, "not JSON"),
        (line().replace(b"120.0", b"NaN"), "NaN"),
        (line().replace(b"120.0", b"1e999"), "ttft_ms is no number"),
        (line(status="200"), "status"),
        (line(status=True), "status"),
        (line(streamed="yes"), "streamed"),
        (line(prompt_tokens=-1), "prompt_tokens"),
        (line(ttft_ms=1000), "greater than wall_ms"),
        (line(id=...), "without id"),
        (line(id=SECRET), "looks like a key"),
        (line(finish_reason="a\x00b"), "cannot be printed"),
        (line(at="2026-01-01T00:00:00"), "zone"),
        (line(at="0001-01-01T00:00:00+14:00"), "no time"),
        (line(at=ahead.isoformat()), "future"),
        (line(at=(hour - timedelta(days=2)).isoformat()), "first configuration"),
        (line(messages=[SECRET]), "never taken"),
        (line(route="nobody"), "unknown"),
        (line(route="old-toy"), "alias"),
        (line(route="other-route"), "another deployment, other"),
        (line(error="x" * LONGEST_LINE), "longer than"),
    ]
    stream = (
        b"\n".join(text.strip() for text, _ in refused) + b"\n\n" + line(1, route="toy-served")
    )
    report = send(olive, deployment, *bounded_lines(io.BytesIO(stream)))
    assert (report.accepted, report.refused) == (1, len(refused))
    for number, (told, (_, why)) in enumerate(zip(report.refusals, refused, strict=True), 1):
        assert told["line"] == number and why in str(told["why"])
    batch = Batch.objects.get()
    assert batch.refusals == report.refusals and batch.finished_at and batch.by == olive
    assert SECRET not in json.dumps(list(Batch.objects.values()), default=str)


def test_sent_again_is_a_duplicate_and_changed_content_is_refused(
    olive: User, deployment: Deployment, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "CHUNK", 2)
    lines = [line(n) for n in range(5)]
    assert send(olive, deployment, *lines).accepted == 5
    reordered = json.dumps(dict(reversed(json.loads(lines[0]).items()))).encode()
    again = send(olive, deployment, reordered, *lines[1:], line(5), line(5), line(0, status=500))
    assert (again.accepted, again.duplicates, again.refused) == (1, 6, 1)
    assert again.refusals[0]["line"] == 8 and "other content" in str(again.refusals[0]["why"])
    assert send(olive, deployment, lines[0], source="litellm").accepted == 1
    assert Record.objects.count() == 7 and Hour.objects.get().completed == 7


def test_what_breaks_off_keeps_what_was_stored_and_can_be_sent_again(
    olive: User, deployment: Deployment, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "CHUNK", 2)

    def broken() -> Iterator[bytes]:
        yield from (line(n) for n in range(3))
        raise ConnectionError

    with pytest.raises(ConnectionError):
        ingest(actor=olive, deployment=deployment, layer="proxy", source="nginx", lines=broken())
    batch = Batch.objects.get()
    assert (batch.accepted, batch.finished_at) == (2, None)
    again = send(olive, deployment, *(line(n) for n in range(3)))
    assert (again.accepted, again.duplicates) == (1, 2)


def test_a_delivery_is_cut_at_its_most_and_refused_without_right_layer_or_source(
    olive: User,
    vera: User,
    deployment: Deployment,
    line: Line,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "MOST_LINES", 3)
    monkeypatch.setattr(services, "CHUNK", 2)
    assert send(olive, deployment, *(line(n) for n in range(9))).is_cut
    with pytest.raises(TrafficRefused, match="layers"):
        send(olive, deployment, layer="process")
    with pytest.raises(TrafficRefused, match="source"):
        send(olive, deployment, source="")
    with pytest.raises(PermissionDenied):
        send(vera, deployment, line(9))


def test_counts_are_of_the_revision_that_was_active_then(
    olive: User, deployment: Deployment, line: Line, hour: datetime
) -> None:
    first, second = deployment.revisions.order_by("number")
    send(olive, deployment, *(line(n, minute=n * 10) for n in range(6)), line(9, status=500))
    send(olive, deployment, line(10, finish_reason="length"), layer="gateway")
    end = hour + timedelta(hours=1)
    assert completed_between(deployment, first, "proxy", hour, end) == Counted(3, 1, 0)
    assert completed_between(deployment, second, "proxy", hour, end) == Counted(3, 0, 0)
    assert completed_between(deployment, first, "gateway", hour, end) == Counted(0, 0, 1)
    at_40 = hour + timedelta(minutes=40)
    assert completed_between(deployment, second, "proxy", hour, at_40).total == 1
    assert {row.revision_id: row.completed for row in Hour.objects.filter(layer="proxy")} == {
        first.pk: 3, second.pk: 3,
    }  # fmt: skip


def test_pages_go_on_where_the_last_ended_also_among_equal_times(
    olive: User, deployment: Deployment, line: Line
) -> None:
    send(olive, deployment, *(line(n, minute=n // 3) for n in range(8)))
    seen: list[str] = []
    before = None
    while page := record_page(deployment, "proxy", before=before, size=2):
        seen += [record.external_id for record in page]
        before = page[-1].at, page[-1].pk
    assert seen == [f"r{n}" for n in reversed(range(8))]
