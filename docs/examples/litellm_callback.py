"""LiteLLM writes a record of every request to a file; a cron job delivers and rotates it.

In LiteLLM's config.yaml, with this file beside it:

    litellm_settings:
      callbacks: litellm_callback.records

LITELLM_RECORDS names the file (default: records.ndjson).
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

FILE = Path(os.environ.get("LITELLM_RECORDS", "records.ndjson"))


class Records(CustomLogger):
    """Facts about requests only: no prompt, answer, header or key is written."""

    async def async_log_success_event(
        self, kwargs: dict[str, Any], answer: Any, start: datetime, end: datetime
    ) -> None:
        write(kwargs, start, end, status=200, finish_reason=finish_reason(answer))

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], answer: Any, start: datetime, end: datetime
    ) -> None:
        error = kwargs.get("exception")
        status = getattr(error, "status_code", None)
        write(kwargs, start, end, status=status, error=type(error).__name__)


def finish_reason(answer: Any) -> str | None:
    """None for embeddings, which have no choices."""
    choices = getattr(answer, "choices", None) or []
    return choices[0].finish_reason if choices else None


def write(kwargs: dict[str, Any], start: datetime, end: datetime, **told: Any) -> None:
    facts = kwargs.get("standard_logging_object") or {}
    streamed = bool(kwargs.get("stream"))
    first = kwargs.get("completion_start_time") if streamed else None
    record = {
        "id": facts.get("id") or kwargs["litellm_call_id"],
        "at": end.astimezone(UTC).isoformat(),
        "route": facts.get("model_group") or kwargs["model"],
        "streamed": streamed,
        # LiteLLM tells of success once it has read the whole stream and put it together.
        "done_seen": told["status"] == 200 if streamed else None,
        "ttft_ms": ms(start, first) if first else None,
        "wall_ms": ms(start, end),
        "prompt_tokens": facts.get("prompt_tokens"),
        "completion_tokens": facts.get("completion_tokens"),
        **told,
    }
    with FILE.open("a") as file:
        file.write(json.dumps(record) + "\n")


def ms(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds() * 1000


records = Records()
