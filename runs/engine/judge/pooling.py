"""Embeddings and rerank: whether the body is what the endpoint is for."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

from runs.engine.judge.context import Case
from runs.engine.outcomes import Finding


def pooling_findings(case: Case) -> list[Finding]:
    """For an embeddings or rerank request with a 2xx answer."""
    if case.reading.errors:
        return []
    body = case.reading.json_body
    if case.expectation.kind == "embeddings":
        return _embeddings(case, body)
    return _rerank(case, body)


def _embeddings(case: Case, body: Any) -> list[Finding]:
    rows = body.get("data") if isinstance(body, dict) else None
    if not isinstance(rows, list) or not rows:
        return [case.finding("pooling_invalid", "The answer holds no list of vectors.")]
    vectors = [row.get("embedding") if isinstance(row, dict) else None for row in rows]
    if case.expectation.count is not None and len(vectors) != case.expectation.count:
        return [
            case.finding(
                "pooling_invalid",
                f"{len(vectors)} vectors for {case.expectation.count} texts.",
            )
        ]
    wants_text = case.expectation.encoding == "base64"
    if wants_text and all(isinstance(v, list) for v in vectors):
        return [
            case.finding("encoding_ignored", "base64 was asked for; lists of numbers came back.")
        ]
    if wants_text:
        return []
    whole = [v for v in vectors if isinstance(v, list) and v and all(map(_is_finite, v))]
    if len(whole) < len(vectors):
        return [case.finding("pooling_invalid", "A vector is empty or holds no finite numbers.")]
    if len({len(v) for v in whole}) > 1:
        return [case.finding("pooling_invalid", "The vectors differ in length.")]
    return []


def rerank_rows(body: Any) -> list[tuple[int, float]]:
    """(index, score) of each result: Cohere-like `results`, or TEI's bare list. Empty: neither."""
    rows = body.get("results", body.get("data")) if isinstance(body, dict) else body
    if not isinstance(rows, list):
        return []
    pairs = []
    for row in rows:
        if not isinstance(row, dict):
            return []
        score = row.get("relevance_score", row.get("score"))
        index = row.get("index")
        if not isinstance(index, int) or not _is_finite(score):
            return []
        pairs.append((index, float(score)))
    return pairs


def _rerank(case: Case, body: Any) -> list[Finding]:
    pairs = rerank_rows(body)
    if not pairs:
        return [case.finding("pooling_invalid", "The answer holds no list of finite scores.")]
    count = case.expectation.count
    if count is not None and len(pairs) != count:
        return [case.finding("pooling_invalid", f"{len(pairs)} scores for {count} documents.")]
    if len({index for index, _ in pairs}) != len(pairs):
        return [case.finding("pooling_invalid", "A document was scored twice.")]
    return []


def _is_finite(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
