"""Embeddings and rerank: whether the body is what the endpoint is for."""

from __future__ import annotations

import base64
import struct
from typing import Any

from runs.engine.judge.context import Case
from runs.engine.outcomes import Finding
from runs.engine.reading.figures import is_number

FLOAT_BYTES = 4


def pooling_findings(case: Case) -> list[Finding]:
    """For an embeddings or rerank request with a 2xx answer."""
    if case.reading.errors:
        return []
    body = case.reading.json_body
    if case.expectation.kind == "embeddings":
        return _embeddings(case, body)
    return _rerank(case, body)


def _invalid(case: Case, text: str) -> list[Finding]:
    return [case.finding("pooling_invalid", text)]


# --- embeddings ---


def raw_vectors(body: Any) -> list[Any]:
    """OpenAI's `data` in order of index, a bare list of such rows, Ollama's `embeddings`."""
    rows = body.get("data") if isinstance(body, dict) else body
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        ordered = sorted(rows, key=_index)
        return [row.get("embedding") for row in ordered]
    if isinstance(body, dict) and isinstance(body.get("embeddings"), list):
        return list(body["embeddings"])
    if isinstance(body, dict) and "embedding" in body:
        return [body["embedding"]]
    return []


def _index(row: dict[str, Any]) -> int:
    index = row.get("index")
    return index if isinstance(index, int) else 0


def decoded(raw: Any) -> list[Any] | None:
    """A vector of numbers; base64 holds little-endian 32-bit floats. None: neither."""
    if isinstance(raw, list):
        return raw
    if not isinstance(raw, str):
        return None
    try:
        packed = base64.b64decode(raw, validate=True)
        return list(struct.unpack(f"<{len(packed) // FLOAT_BYTES}f", packed))
    except (ValueError, struct.error):
        return None


def _embeddings(case: Case, body: Any) -> list[Finding]:
    raw, expect = raw_vectors(body), case.expectation
    if not raw:
        return _invalid(case, "The answer holds no list of vectors.")
    if expect.count is not None and len(raw) != expect.count:
        return _invalid(case, f"{len(raw)} vectors for {expect.count} texts.")
    vectors = [decoded(vector) for vector in raw]
    whole = [v for v in vectors if v and all(map(is_number, v))]
    if len(whole) < len(vectors):
        return _invalid(case, "A vector is empty, or holds what is no finite number.")
    if len({len(v) for v in whole}) > 1:
        return _invalid(case, "The vectors differ in length.")
    if expect.dimension is not None and len(whole[0]) != expect.dimension:
        return _invalid(case, f"{len(whole[0])} dimensions, expected were {expect.dimension}.")
    if not all(any(v) for v in whole):
        return _invalid(case, "A vector is nothing but zeros.")
    return _encoding(case, raw)


def _encoding(case: Case, raw: list[Any]) -> list[Finding]:
    """A client that trusts what it asked for reads another form as garbage."""
    wanted: type = str if case.expectation.encoding == "base64" else list
    if all(isinstance(vector, wanted) for vector in raw):
        return []
    came = "lists of numbers" if wanted is str else "text"
    return [
        case.finding(
            "encoding_ignored", f"{case.expectation.encoding} was asked for; {came} came back."
        )
    ]


# --- rerank ---


def rerank_rows(body: Any) -> list[tuple[int, float]]:
    """(index, score) of each result: `results`, `data`, or a bare list; [] for anything else."""
    rows = body.get("results", body.get("data")) if isinstance(body, dict) else body
    if not isinstance(rows, list):
        return []
    pairs = []
    for position, row in enumerate(rows):
        if is_number(row):
            pairs.append((position, float(row)))
            continue
        if not isinstance(row, dict):
            return []
        score = row.get("relevance_score", row.get("score"))
        index = row.get("index", position)
        if not isinstance(index, int) or not is_number(score):
            return []
        pairs.append((index, float(score)))
    return pairs


def _rerank(case: Case, body: Any) -> list[Finding]:
    """Order and separation count, never the size of a score: it may be any monotone scale."""
    pairs, expect = rerank_rows(body), case.expectation
    if not pairs:
        return _invalid(case, "The answer holds no list of finite scores.")
    if expect.count is not None and len(pairs) != expect.count:
        return _invalid(case, f"{len(pairs)} scores for {expect.count} documents.")
    scores = dict(pairs)
    if len(scores) != len(pairs):
        return _invalid(case, "A document was scored twice.")
    if expect.count is not None and not set(scores) <= set(range(expect.count)):
        return _invalid(case, "A score names a document that was not sent.")
    if expect.top_index is None:
        return []
    best = max(scores, key=scores.__getitem__)
    ties = [index for index, score in pairs if score == scores[best]]
    if best != expect.top_index or len(ties) > 1:
        text = f"Document {expect.top_index} fits best, but the highest score is at {ties}."
        return _invalid(case, text)
    return []
