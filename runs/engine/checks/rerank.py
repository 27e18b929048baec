"""Rerank: one finite score a document, and the fitting document before the others."""

from __future__ import annotations

import math

from runs.engine.checks.base import Check, Found, Params, Request, Scene
from runs.engine.checks.pooling_load import load, requests_of
from runs.engine.judge import Expectation
from runs.engine.judge.pooling import rerank_rows
from runs.engine.outcomes import Finding
from runs.engine.records import RequestSpec

QUERY = "what is the capital of france?"
DOCUMENTS = (
    "berlin weather",
    "paris is the capital of france",
    "the cat is a dog",
)
FITTING = 1
SAME_TOLERANCE = 1e-3

Scores = dict[int, float]


async def run(scene: Scene, params: Params) -> Found:
    if params.get("clients"):
        return await load(scene, params, one_of_many)
    first = dict(await ask(scene, "rerank", "fresh"))
    again = dict(await ask(scene, "repeat", "repeat"))
    if not first:
        return Found()  # its request says why
    findings = unknown_documents(first) or [*unstable(first, again), *wrong_order(first)]
    return Found(findings, {"count": len(first), "score_kind": kind(first), "scores": first})


async def ask(scene: Scene, label: str, cache: str) -> list[tuple[int, float]]:
    """Index and score of each document, of one rerank request."""
    return rerank_rows((await scene.send(question(scene, QUERY, label, cache))).body)


def question(scene: Scene, query: str, label: str, cache: str, clients: int = 1) -> Request:
    body = {
        "model": scene.plan.target.model,
        "query": query,
        "documents": list(DOCUMENTS),
        "top_n": len(DOCUMENTS),
    }
    path = scene.adapter.rerank_path
    spec = RequestSpec("POST", path, body, False, "rerank", label, cache, clients)
    expect = Expectation(kind="rerank", count=len(DOCUMENTS))
    return Request(spec, expect, "\n".join([query, *DOCUMENTS]))


def one_of_many(scene: Scene, label: str, clients: int) -> Request:
    """The same question in words that no cache can hold."""
    return question(scene, f"{scene.prompts.nonce()} {QUERY}", label, "fresh", clients)


def unknown_documents(found: Scores) -> list[Finding]:
    if set(found) == set(range(len(DOCUMENTS))):
        return []
    return [invalid(f"{len(DOCUMENTS)} documents were sent; scores came for {sorted(found)}.")]


def unstable(first: Scores, again: Scores) -> list[Finding]:
    same = first.keys() == again.keys() and all(
        math.isclose(first[i], again[i], rel_tol=SAME_TOLERANCE, abs_tol=SAME_TOLERANCE)
        for i in first
    )
    return [] if same else [invalid("The same question got other scores the second time.")]


def wrong_order(found: Scores) -> list[Finding]:
    best = max(found, key=lambda index: found[index])
    if best == FITTING:
        return []
    return [
        invalid(f"Asked {QUERY!r}, {DOCUMENTS[best]!r} scored higher than {DOCUMENTS[FITTING]!r}.")
    ]


def kind(found: Scores) -> str:
    """Probabilities lie within 0 and 1; anything beyond is a raw score."""
    if not found:
        return ""
    inside = all(0 <= s <= 1 for s in found.values())
    return "within 0 and 1, as probabilities are" if inside else "raw scores (logits)"


def invalid(sentence: str) -> Finding:
    return Finding("pooling_invalid", sentence)


RERANK = Check(
    key="rerank",
    title="Rerank",
    description=(
        "Scores three documents against a question, twice: one finite score each, the same both "
        "times, and the fitting document first."
    ),
    run=run,
    requests=lambda params: requests_of(params, alone=2),
)
