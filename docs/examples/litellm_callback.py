"""LiteLLM's proxy writes a record of every request to a file; see docs/traffic.md.

In its config.yaml, with this file beside it:

    litellm_settings:
      callbacks: litellm_callback.records

LITELLM_RECORDS names the file (default: records.ndjson).
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

FILE = Path(os.environ.get("LITELLM_RECORDS", "records.ndjson"))


class Records(CustomLogger):
    """Facts about requests only: no prompt, answer, header or key is written."""

    def __init__(self) -> None:
        super().__init__()
        self.streams: dict[str, Any] = {}

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Remember the stream: it knows whether the server itself said why it ended."""
        call_id = request_data.get("litellm_call_id", "")
        self.streams[call_id] = response
        try:
            async for chunk in response:
                yield chunk
        finally:
            if len(self.streams) > 10_000:  # of clients that left
                self.streams.clear()

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: datetime, end_time: datetime
    ) -> None:
        told: dict[str, Any] = {"finish_reason": reason_in([response_obj])}
        if kwargs.get("stream"):
            # A stream that its server cut off gets a "stop" of LiteLLM's own making in the whole
            # answer, but not among the chunks that came.
            stream = self.streams.pop(kwargs["litellm_call_id"], None)
            chunks = getattr(stream, "chunks", None)
            reason = reason_in(chunks or [])
            done_seen = None if chunks is None else reason is not None
            told = {"finish_reason": reason, "done_seen": done_seen}
        write(kwargs, start_time, end_time, status=200, **told)

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: datetime, end_time: datetime
    ) -> None:
        self.streams.pop(kwargs["litellm_call_id"], None)
        error = kwargs.get("exception")
        status = getattr(error, "status_code", None)
        write(kwargs, start_time, end_time, status=status, error=type(error).__name__)


def reason_in(parts: list[Any]) -> str | None:
    """The finish reason that an answer or its chunks give; embeddings have none."""
    choices = [choice for part in parts for choice in getattr(part, "choices", None) or []]
    return next((c.finish_reason for c in reversed(choices) if c.finish_reason), None)


def write(kwargs: dict[str, Any], start: datetime, end: datetime, **told: Any) -> None:
    facts = kwargs.get("standard_logging_object") or {}
    streamed = bool(kwargs.get("stream"))
    first = kwargs.get("completion_start_time") if streamed else None
    record = {
        "id": kwargs["litellm_call_id"],
        "at": end.astimezone(UTC).isoformat(),
        "route": facts.get("model_group") or kwargs["model"],
        "streamed": streamed,
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
