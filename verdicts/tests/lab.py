"""Runs with requests, made without any engine."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from catalog.models import Deployment, Endpoint, Revision
from runs.models import Outcome, Run, RunRequest, RunState, Suite


def add_endpoint(deployment: Deployment) -> Endpoint:
    endpoint, _ = Endpoint.objects.get_or_create(
        deployment=deployment,
        layer="direct",
        defaults={"base_url": "http://127.0.0.1:9/v1", "served_model": "x"},
    )
    return endpoint


def add_run(
    deployment: Deployment,
    *requests: dict[str, Any],
    revision: Revision | None = None,
    **changes: Any,
) -> Run:
    """A finished clean-pass run of the active revision with these requests."""
    suite, _ = Suite.objects.get_or_create(key="smoke", defaults={"name": "Smoke", "checks": []})
    of = revision or deployment.revisions.get(is_active=True)
    facts: dict[str, Any] = {
        "deployment": deployment,
        "revision": of,
        "endpoint": add_endpoint(deployment),
        "host": deployment.host,
        "layer": "direct",
        "suite": suite,
        "plan": {},
        "revision_fingerprint": of.fingerprint,
        "code_version": "test",
        "state": RunState.FINISHED,
        "outcome": Outcome.CLEAN_PASS,
        "finished_at": timezone.now(),
    }
    run = Run.objects.create(**{**facts, **changes})
    for index, request in enumerate(requests):
        RunRequest.objects.create(**{**request_facts(run, index), **request})
    return run


def request_facts(run: Run, index: int) -> dict[str, Any]:
    """A fresh, streamed, lonely, short request that passed."""
    return {
        "run": run,
        "index": index,
        "check_key": "marker",
        "label": "marker",
        "streamed": True,
        "cache": "fresh",
        "outcome": Outcome.CLEAN_PASS,
        "ttft_ms": 100.0,
        "decode_tps": 40.0,
        "prompt_tokens": 20,
        "record": {},
    }
