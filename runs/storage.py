"""Request results as rows: figures that lists need as columns, the rest as one record."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import Any

from runs.models import RunRequest
from runs.payloads import clean, clean_text

MAX_OFFSETS = 200_000
UINT32_MAX = 2**32 - 1
COLUMNS = [
    "check_key",
    "label",
    "streamed",
    "cache",
    "client_concurrency",
    "outcome",
    "failure_class",
    "explanation",
    "started_offset_ms",
    "ttft_ms",
    "end_ms",
    "decode_tps",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "record",
    "token_offsets",
]


def pack_offsets(offsets_ms: Iterable[float]) -> bytes:
    """Milliseconds as zlib-compressed little-endian uint32 microseconds (71 minutes at most)."""
    micros = [min(max(round(ms * 1000), 0), UINT32_MAX) for ms in offsets_ms]
    return zlib.compress(struct.pack(f"<{len(micros)}I", *micros)) if micros else b""


def unpack_offsets(packed: bytes | memoryview) -> list[float]:
    """What `pack_offsets` stored, in milliseconds."""
    raw = zlib.decompress(bytes(packed)) if packed else b""
    return [micros / 1000 for micros in struct.unpack(f"<{len(raw) // 4}I", raw)]


def store_requests(run_id: int, results: Iterable[dict[str, Any]]) -> None:
    """Insert or replace requests given as `RequestResult.as_dict()`."""
    RunRequest.objects.bulk_create(
        [_row(run_id, result) for result in results],
        update_conflicts=True,
        unique_fields=["run", "index"],
        update_fields=COLUMNS,
    )


def digest(result: dict[str, Any]) -> dict[str, Any]:
    """What the live page shows of a finished request; the rest is in its row."""
    timeline, tokens = result["timeline"], result["tokens"]
    told = {key: result.get(key) for key in ("index", "check", "label", "outcome")}
    told |= {key: result.get(key) for key in ("failure_class", "explanation", "http_status")}
    told |= {key: timeline.get(key) for key in ("connect_ms", "ttft_ms", "end_ms", "decode_tps")}
    told["decode_tps_reason"] = timeline.get("decode_tps_reason")
    told["chunks"] = timeline.get("token_chunks")
    told["completion_tokens"] = tokens.get("completion")
    told["text"] = clean_text(result.get("answer") or result.get("reasoning") or "", 400)
    return told


def _row(run_id: int, result: dict[str, Any]) -> RunRequest:
    timeline, tokens = dict(result["timeline"]), result["tokens"]
    offsets = timeline.pop("token_offsets_ms", [])[:MAX_OFFSETS]
    return RunRequest(
        run_id=run_id,
        index=result["index"],
        check_key=clean_text(result["check"], 40),
        label=clean_text(result["label"], 200),
        streamed=result["streamed"],
        cache=result["cache"],
        client_concurrency=result["client_concurrency"],
        outcome=result["outcome"],
        failure_class=result["failure_class"],
        explanation=clean_text(result["explanation"]),
        started_offset_ms=result["started_offset_ms"],
        ttft_ms=timeline.get("ttft_ms"),
        end_ms=timeline.get("end_ms"),
        decode_tps=timeline.get("decode_tps"),
        prompt_tokens=tokens.get("prompt"),
        completion_tokens=tokens.get("completion"),
        cached_tokens=tokens.get("cached"),
        record=clean({**result, "timeline": timeline}),
        token_offsets=pack_offsets(offsets),
    )
