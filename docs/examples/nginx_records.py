"""From nginx's access log to records: `nginx_records.py < records.log > records.ndjson`.

The log_format stands in docs/traffic.md. nginx sees bytes, not answers: whether the stream ended
with its terminal event, why it stopped and how many tokens it had is not in its log, so these
fields stay empty and the record proves reachability only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

STREAM = "text/event-stream"


def records(log: Iterable[str]) -> Iterator[dict[str, Any]]:
    """One for each line that nginx wrote about a route; other lines are left out."""
    for line in log:
        try:
            told = json.loads(line)
        except ValueError:
            continue  # cut by a rotation
        if told.get("route"):
            yield record(told)


def record(told: dict[str, Any]) -> dict[str, Any]:
    broken_off = told["completion"] != "OK" and told["status"] < 400
    return {
        "id": told["id"],
        "at": datetime.fromtimestamp(float(told["msec"]), UTC).isoformat(),
        "route": told["route"],
        "status": told["status"],
        "streamed": told["type"].startswith(STREAM),
        "done_seen": False if broken_off else None,  # by whom, nginx does not tell
        "wall_ms": float(told["total_s"]) * 1000,
    }


if __name__ == "__main__":
    for one in records(sys.stdin):
        sys.stdout.write(json.dumps(one) + "\n")
