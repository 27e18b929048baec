"""The converter of the documentation, on lines that a real nginx 1.22 wrote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from catalog.models import Deployment
from people.models import User
from runs.traffic.models import Record
from runs.traffic.services import ingest

CONVERTER = Path(__file__).resolve().parents[3] / "docs" / "examples" / "nginx_records.py"
# In order: JSON, a stream, a refusal, upstream down, the client left in the middle, no route.
SEEN = (
    ("a1", "toy", 200, "OK", "application/json", "0.001"),
    ("a2", "toy", 200, "OK", "text/event-stream", "0.110"),
    ("a3", "toy", 503, "OK", "application/json", "0.001"),
    ("a4", "toy", 502, "OK", "text/html", "0.000"),
    ("a5", "toy", 200, "", "text/event-stream", "0.081"),
    ("a6", "", 404, "OK", "text/html", "0.000"),
)
LINE = (
    '{"id":"%s","msec":"%s","route":"%s","status":%d,'
    '"completion":"%s","type":"%s","total_s":"%s"}\n'
)


def test_nginx_proves_what_failed_and_never_that_something_completed(
    olive: User, deployment: Deployment
) -> None:
    since = deployment.revisions.get(number=1).created_at
    msec = f"{since.timestamp() + 60:.3f}"
    log = "".join(LINE % (name, msec, *rest) for name, *rest in SEEN) + '{"id":"cut'
    told = subprocess.run(
        [sys.executable, CONVERTER], input=log.encode(), capture_output=True, check=True
    )
    lines = told.stdout.splitlines()
    report = ingest(actor=olive, deployment=deployment, layer="proxy", source="nginx", lines=lines)
    assert (report.accepted, report.refused) == (5, 0)
    assert list(Record.objects.order_by("pk").values_list("failure_class", flat=True)) == [
        "missing_finish_reason", "missing_finish_reason", "http_5xx", "http_5xx",
        "truncated_stream",
    ]  # fmt: skip
