"""Probes without a browser: a registered deployment's run, or a look at any address."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings

from catalog.models import Deployment, Layer
from runs import doorbell
from runs.engine.checks import CHECKS
from runs.engine.plan import CheckSpec, Deadlines, Plan, Target
from runs.engine.records import RequestResult, RunReport
from runs.engine.session import run_plan_sync
from runs.executor import execute
from runs.models import Run, RunState
from runs.selectors import has_worker
from runs.services import start_run_from_command_line

FOLLOW_INTERVAL_S = 0.25


@dataclass(frozen=True)
class AddressProbe:
    """What to ask at an address nobody registered. `deadlines` in seconds by field name."""

    base_url: str
    model: str
    runtime: str
    layer: str
    api_key_env: str
    checks: tuple[str, ...]
    params: dict[str, Any] = field(default_factory=dict)
    deadlines: dict[str, float] = field(default_factory=dict)


class Silent:
    """An observer that nobody watches."""

    def emit(self, kind: str, payload: dict[str, Any]) -> None:
        """Drop it: the report tells everything at the end."""


def probe_address(probe: AddressProbe) -> RunReport:
    """Run the checks against the address, storing nothing.

    Raises ValueError for an unknown check or layer, or an address that is no URL.
    """
    return run_plan_sync(address_plan(probe), Silent(), threading.Event())


def address_plan(probe: AddressProbe) -> Plan:
    """The plan of an address probe; raises ValueError with what would be accepted."""
    unknown = sorted(set(probe.checks) - set(CHECKS))
    if unknown:
        raise ValueError(f"No check {', '.join(unknown)}. There are: {', '.join(sorted(CHECKS))}.")
    if probe.layer not in Layer.values:
        raise ValueError(f"No layer {probe.layer}. There are: {', '.join(Layer.values)}.")
    if not probe.base_url.startswith(("http://", "https://")):
        raise ValueError("--url must start with http:// or https://")
    target = Target(
        base_url=probe.base_url.rstrip("/"),
        model=probe.model,
        runtime=probe.runtime,
        layer=probe.layer,
        api_key_env=probe.api_key_env,
    )
    checks = tuple(CheckSpec(key, dict(probe.params)) for key in probe.checks)
    return Plan("address", 1, checks, target, deadlines=replace(Deadlines(), **probe.deadlines))


def probe_deployment(name: str, suite: str, layer: str) -> Run:
    """Start a run and see it through, whoever executes it.

    This machine's runs are executed here, unless its worker is quicker; another host's are left
    to that host's worker, since only it sees the server's process. Raises ValueError when there
    is no such deployment, no worker for its host, or the run is refused.
    """
    deployment = find_deployment(name)
    is_here = deployment.host.key == settings.LOCAL_HOST_KEY
    if not is_here and not has_worker(deployment.host):
        raise ValueError(
            f"{deployment} is on {deployment.host}, and no worker of that host is alive. "
            "Start its worker, or probe the address with --url."
        )
    run = start_run_from_command_line(deployment=deployment, suite_key=suite, layer=layer)
    if is_here:
        execute(run.pk)
    else:
        doorbell.ring(run)
    pause = threading.Event()
    while Run.objects.values_list("state", flat=True).get(pk=run.pk) != RunState.FINISHED:
        pause.wait(FOLLOW_INTERVAL_S)
    return Run.objects.get(pk=run.pk)


def find_deployment(name: str) -> Deployment:
    """By its slug, or by its route where only one deployment has it; else ValueError."""
    found = Deployment.objects.select_related("host").filter(slug=name).first()
    if found is not None:
        return found
    routes = list(Deployment.objects.select_related("host").filter(canonical_route=name)[:5])
    if len(routes) == 1:
        return routes[0]
    if routes:
        slugs = ", ".join(deployment.slug for deployment in routes)
        raise ValueError(f"Several deployments have the route {name}: {slugs}. Name one of them.")
    raise ValueError(f"No deployment {name}. The inventory lists them.")


def run_as_dict(run: Run) -> dict[str, Any]:
    """A finished run in the shape that both modes print."""
    records = [request.record for request in run.requests.order_by("index")]
    return {
        "run": run.pk,
        "deployment": run.deployment.slug,
        "outcome": run.outcome,
        "failure_class": run.failure_class,
        "explanation": run.explanation,
        "checks": run.report.get("checks", []),
        "identity": run.report.get("identity_after", {}),
        "instrument": run.report.get("instrument", {}),
        "warnings": run.report.get("warnings", []),
        "requests": [flat(record) for record in records],
    }


def address_as_dict(report: RunReport) -> dict[str, Any]:
    """A report in the shape that both modes print."""
    whole = report.as_dict()
    return {
        "outcome": report.outcome.value,
        "failure_class": report.failure_class,
        "explanation": report.explanation,
        "checks": whole["checks"],
        "identity": whole["identity_after"],
        "instrument": report.instrument,
        "load_ms": report.load_ms,
        "warnings": report.warnings,
        "requests": [flat(request) for request in map(RequestResult.as_dict, report.requests)],
    }


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """A request with its times and token counts on the first level, as scripts want them."""
    rest = {k: v for k, v in record.items() if k not in ("timeline", "tokens")}
    tokens = {
        f"{name}_tokens" if name != "origin" else "tokens_origin": value
        for name, value in record["tokens"].items()
    }
    return {**rest, **record["timeline"], **tokens}


def describe(report: dict[str, Any]) -> str:
    """The report in a few lines for a terminal."""
    lines = [f"{label(report)}: {report['explanation'] or 'every check passed'}"]
    for request in report["requests"]:
        lines.append(
            f"  {request['check']:<12} {label(request):<30} "
            f"TTFT {milliseconds(request['ttft_ms'])}  total {milliseconds(request['end_ms'])}"
        )
    lines += [f"  note: {warning}" for warning in report["warnings"]]
    return "\n".join(lines)


def label(part: dict[str, Any]) -> str:
    """The outcome, with its class where there is one."""
    words = str(part["outcome"]).replace("_", " ")
    return f"{words} ({part['failure_class']})" if part["failure_class"] else words


def milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} ms"
