"""Embeddings: as many as asked, of one length, finite, and the same in every form."""

from __future__ import annotations

import base64
import math
import struct
from typing import Any

from runs.engine.checks.base import Check, Found, NotApplicable, Params, Request, Scene
from runs.engine.checks.pooling_load import load, requests_of
from runs.engine.judge import Expectation
from runs.engine.outcomes import Finding
from runs.engine.records import RequestSpec

UNIT_TOLERANCE = 1e-3
SAME_TOLERANCE = 1e-3  # relative to the length: a batch may be computed in another order
TEXTS = (
    "A boat leaves the quiet harbour in the morning.",
    "In the morning a ship sails out of the calm port.",
    "The invoice has to be paid within thirty days.",
)

Vector = list[float]


async def run(scene: Scene, params: Params) -> Found:
    if not scene.adapter.embeddings_path:
        raise NotApplicable("This address is asked for chat only: give the one that ends in /v1.")
    if params.get("clients"):
        return await load(scene, params, one_of_many)
    texts = [f"{scene.prompts.nonce()} {text}" for text in TEXTS]
    floats = await ask(scene, "float", texts)
    again = await ask(scene, "repeat", texts, cache="repeat")
    packed = await ask(scene, "base64", texts, encoding="base64")
    if not is_sound(floats):
        return Found()  # its request says why
    found = Found(
        [*differing("the repeat", floats, again), *differing("base64", floats, packed)],
    )
    lengths = [length(v) for v in floats]
    found.figures = {
        "count": len(floats),
        "dimension": len(floats[0]),
        "norm_lowest": min(lengths),
        "norm_highest": max(lengths),
        "normalised": all(abs(n - 1) < UNIT_TOLERANCE for n in lengths),
        "similar_cosine": cosine(floats[0], floats[1]),
        "different_cosine": cosine(floats[0], floats[2]),
    }
    return found


async def ask(
    scene: Scene, label: str, texts: list[str], *, encoding: str = "", cache: str = "fresh"
) -> list[Vector]:
    """The vectors of one embeddings request."""
    body: dict[str, Any] = {"model": scene.plan.target.model, "input": texts}
    if encoding:
        body["encoding_format"] = encoding
    path = scene.adapter.embeddings_path
    spec = RequestSpec("POST", path, body, False, "embeddings", label, cache)
    expect = Expectation(kind="embeddings", count=len(texts), encoding=encoding or "float")
    return vectors((await scene.send(Request(spec, expect, "\n".join(texts)))).body)


def one_of_many(scene: Scene, label: str, clients: int) -> Request:
    """A short text that no cache can hold."""
    text = f"{scene.prompts.nonce()} {TEXTS[0]}"
    body = {"model": scene.plan.target.model, "input": [text]}
    path = scene.adapter.embeddings_path
    spec = RequestSpec("POST", path, body, False, "embeddings", label, "fresh", clients)
    return Request(spec, Expectation(kind="embeddings", count=1), text)


def vectors(body: Any) -> list[Vector]:
    """The `data` of an answer in order of index; [] for anything else."""
    data = body.get("data") if isinstance(body, dict) else None
    entries = [e for e in data if isinstance(e, dict)] if isinstance(data, list) else []
    entries.sort(key=lambda e: e["index"] if isinstance(e.get("index"), int) else 0)
    return [vector(e.get("embedding")) for e in entries]


def vector(raw: Any) -> Vector:
    """Floats, or base64 of little-endian 32-bit floats; [] for anything else."""
    if isinstance(raw, str):
        try:
            packed = base64.b64decode(raw, validate=True)
            return list(struct.unpack(f"<{len(packed) // 4}f", packed))
        except (ValueError, struct.error):
            return []
    numbers = raw if isinstance(raw, list) else []
    return [float(x) if isinstance(x, int | float) else math.nan for x in numbers]


def is_sound(found: list[Vector]) -> bool:
    """Vectors that can be compared: of one length, finite, and not all zeros."""
    sizes = {len(v) for v in found}
    finite = all(math.isfinite(x) for v in found for x in v)
    return len(found) == len(TEXTS) and len(sizes) == 1 and finite and all(map(length, found))


def differing(what: str, one: list[Vector], other: list[Vector]) -> list[Finding]:
    if [len(v) for v in one] != [len(v) for v in other]:
        return [invalid(f"The embeddings of {what} have another count or length.")]
    worst = max(distance(a, b) / length(a) for a, b in zip(one, other, strict=True))
    if worst <= SAME_TOLERANCE:
        return []
    return [invalid(f"The embeddings of {what} differ by {worst:.2%} of their length.")]


def invalid(sentence: str) -> Finding:
    return Finding("pooling_invalid", sentence)


def length(v: Vector) -> float:
    return math.sqrt(sum(x * x for x in v))


def distance(a: Vector, b: Vector) -> float:
    return length([x - y for x, y in zip(a, b, strict=True)])


def cosine(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / (length(a) * length(b))


EMBEDDINGS = Check(
    key="embeddings",
    title="Embeddings",
    description=(
        "Embeds three texts as floats, again, and as base64: count, dimension, finite values, "
        "unit length or not, and the same numbers each time."
    ),
    run=run,
    requests=lambda params: requests_of(params, alone=3),
)
