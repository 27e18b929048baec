"""Starting, cancelling and repeating runs; the default suites."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from catalog.models import Deployment, Endpoint, Layer, Revision
from people.access import Action, require
from people.models import User
from runs import claims, doorbell
from runs.claims import Ending
from runs.engine.checks import plan_requests
from runs.engine.plan import Plan
from runs.engine.suites import DEFAULT_SUITES
from runs.models import Outcome, Run, RunState, Suite
from runs.planning import RunRefused, active_endpoint, active_revision, build_plan, current_suite
from runs.version import code_version
from runs.wake import wake_followers


def start_run(
    *,
    actor: User,
    deployment: Deployment,
    suite: Suite,
    layer: str,
    repeats: Run | None = None,
    note: str = "",
    guards: dict[str, float] | None = None,
) -> Run:
    """Queue a run of the suite against the deployment's active revision and ring its host.

    `guards` are memory limits for this run alone, by the keys of `runs.memory.budget`.

    Raises PermissionDenied, or RunRefused with what is missing.
    """
    require(actor, Action.START_RUN)
    run = _create_run(
        deployment=deployment,
        suite=suite,
        layer=layer,
        requested_by=actor,
        requested_by_name=actor.get_username(),
        repeats=repeats,
        note=note[:300],
        guards=guards,
    )
    transaction.on_commit(partial(doorbell.ring, run))
    return run


def start_run_from_command_line(*, deployment: Deployment, suite_key: str, layer: str) -> Run:
    """Queue a run for whoever may use this machine's shell; the caller executes or rings.

    Raises RunRefused (a ValueError) with what is missing.
    """
    return _create_run(
        deployment=deployment,
        suite=current_suite(suite_key),
        layer=layer,
        requested_by_name=f"{getpass.getuser()} (command line)",
    )


def cancel_run(*, actor: User, run: Run) -> None:
    """End a queued run at once; ask a running one to stop.

    Raises PermissionDenied, or RunRefused when it is over already.
    """
    require(actor, Action.CANCEL_RUN)
    who = actor.get_username()
    ending = Ending(
        Outcome.INCONCLUSIVE, "cancelled", f"Cancelled by {who} before it began; nothing was sent."
    )
    if claims.finish_unclaimed(run.pk, ending):
        wake_followers(run.pk)
        return
    running = Run.objects.filter(pk=run.pk, state=RunState.RUNNING)
    if not running.exists():
        raise RunRefused(f"Run #{run.pk} is over already, so there is nothing to cancel.")
    running.filter(cancel_requested_at=None).update(cancel_requested_at=timezone.now())


def repeat_run(*, actor: User, run: Run) -> Run:
    """The same suite through the same layer again, against what is active now."""
    suite = current_suite(run.suite.key)
    return start_run(
        actor=actor, deployment=run.deployment, suite=suite, layer=run.layer, repeats=run
    )


def _create_run(
    *,
    deployment: Deployment,
    suite: Suite,
    layer: str,
    guards: dict[str, float] | None = None,
    **about: Any,
) -> Run:
    if layer not in Layer.values:
        raise RunRefused(f"There is no layer {layer}. There are: {', '.join(Layer.values)}.")
    revision = active_revision(deployment)
    endpoint = active_endpoint(deployment, layer)
    plan = build_plan(
        deployment=deployment, revision=revision, endpoint=endpoint, suite=suite, guards=guards
    )
    return store_run(
        deployment=deployment,
        revision=revision,
        endpoint=endpoint,
        suite=suite,
        plan=plan,
        **about,
    )


def store_run(
    *,
    deployment: Deployment,
    revision: Revision,
    endpoint: Endpoint,
    suite: Suite,
    plan: Plan,
    **about: Any,
) -> Run:
    """A queued run of this plan; nobody is rung. For what may start it, ask before."""
    return Run.objects.create(
        deployment=deployment,
        revision=revision,
        endpoint=endpoint,
        host=deployment.host,
        layer=endpoint.layer,
        suite=suite,
        plan=plan.as_dict(),
        revision_fingerprint=revision.fingerprint,
        code_version=code_version(),
        planned_requests=plan_requests(plan),
        **about,
    )


def ensure_default_suites() -> None:
    """Store the engine's own suites; one that changed with the release gets a new version.

    A suite that a person has edited stays as it is.
    """
    for suite in DEFAULT_SUITES:
        checks: list[dict[str, Any]] = [asdict(check) for check in suite.checks]
        current = Suite.objects.filter(key=suite.key, is_current=True).first()
        if current is None or (current.created_by_id is None and current.checks != checks):
            add_suite_version(
                key=suite.key, name=suite.name, description=suite.description, checks=checks
            )


@transaction.atomic
def add_suite_version(
    *,
    key: str,
    name: str,
    description: str,
    checks: list[dict[str, Any]],
    created_by: User | None = None,
) -> Suite:
    """The next version becomes the current one; earlier ones stay for the runs that used them."""
    Suite.objects.filter(key=key, is_current=True).update(is_current=False)
    version = Suite.objects.filter(key=key).count() + 1
    return Suite.objects.create(
        key=key,
        version=version,
        name=name,
        description=description,
        checks=checks,
        created_by=created_by,
    )


def kept_suite(key: str, name: str, checks: list[dict[str, Any]]) -> Suite:
    """Not among those that people choose from; other checks under the same key are a new
    version."""
    for known in Suite.objects.filter(key=key):
        if known.checks == checks:
            return known
    version = Suite.objects.filter(key=key).count() + 1
    made, _ = Suite.objects.get_or_create(
        key=key,
        version=version,
        defaults={"name": name[:80], "checks": checks, "is_current": False},
    )
    return made
