"""Getting to the server: whether it is there, what it is, and waiting while it loads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from runs.engine.clock import ms_between, now_ns
from runs.engine.observer import Cancel
from runs.engine.plan import Plan
from runs.engine.reporting import Reporter
from runs.engine.runtimes import adapter_for
from runs.engine.runtimes.address import root_of
from runs.engine.runtimes.base import DOWN, LOADING, Health
from runs.engine.runtimes.detect import Discovery, DiscoveryError, discover
from runs.engine.runtimes.peek import PeekError, key_from, open_peek
from runs.engine.scene import LiveScene
from runs.engine.stopping import RunStopped, wait
from runs.engine.transport import open_client

LOOK_PAUSE_S = 0.5
STOPS = {"connect": "connect_failed", "tls": "tls_failed"}


async def arrive(plan: Plan, reporter: Reporter, cancel: Cancel) -> tuple[Plan, float | None]:
    """The plan with its runtime and model filled in, and how long the server loaded, in ms.

    None when it was ready at once. Raises RunStopped when it cannot be reached, its key is
    unusable, or it is still loading after `load_s`.
    """
    refuse_bad_key(plan)
    started_ns, was_loading = now_ns(), False
    while (health := await look(plan)).state == LOADING:
        waited_s = ms_between(started_ns, now_ns()) / 1000
        if waited_s > plan.deadlines.load_s:
            raise RunStopped(
                "init_failed",
                f"The server was still loading after {waited_s:.0f} s. Look at its log, or give "
                "it more time.",
            )
        if not was_loading:
            reporter.note(f"{health.sentence} Waiting for it.")
        was_loading = True
        await wait(LOOK_PAUSE_S, cancel)
    if health.state == DOWN:
        give_up_or_go_on(health, reporter, is_behind=plan.target.is_behind)
    load_ms = ms_between(started_ns, now_ns()) if was_loading else None
    return await filled_in(plan, reporter), load_ms


def refuse_bad_key(plan: Plan) -> None:
    try:
        key_from(plan.target.api_key_env)
    except PeekError as error:
        raise RunStopped("auth_failed", str(error)) from error


async def look(plan: Plan) -> Health:
    """A gateway's own health may cost a request to every model, so the server itself is asked."""
    target = plan.target.itself()
    async with open_peek(root_of(target.base_url), target.api_key_env) as peek:
        return await adapter_for(target.runtime, target.base_url, peek).health()


def give_up_or_go_on(health: Health, reporter: Reporter, *, is_behind: bool) -> None:
    """Without a connection nothing can be measured; anything else the requests will tell, also
    what a gateway says when the server behind it is gone."""
    if health.kind in STOPS and not is_behind:
        raise RunStopped(STOPS[health.kind], health.sentence)
    reporter.note(health.sentence, "warning")


async def filled_in(plan: Plan, reporter: Reporter) -> Plan:
    """Runtime and model found out where the plan leaves them open."""
    target = plan.target
    if target.runtime and target.model:
        return plan
    try:
        found = await discover(target.base_url, api_key_env=target.api_key_env, model=target.model)
    except DiscoveryError as error:
        reporter.note(f"The runtime could not be found out: {error}", "warning")
        found = Discovery(target.base_url, model=target.model)
    runtime, model = target.runtime or found.runtime, target.model or found.model
    reporter.note(f"Taken as {runtime}, asking for the model {model or '(none)'}.")
    return replace(plan, target=replace(target, runtime=runtime, model=model))


@asynccontextmanager
async def open_scene(
    plan: Plan, reporter: Reporter, cancel: Cancel, seed: int
) -> AsyncIterator[LiveScene]:
    """Two ways to the server, kept apart: small questions, and what is measured."""
    target, itself = plan.target, plan.target.itself()
    key = key_from(target.api_key_env)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        open_peek(root_of(itself.base_url), itself.api_key_env) as peek,
        open_client(
            base_url=target.base_url,
            connect_s=plan.deadlines.connect_s,
            limits=plan.limits,
            headers={"User-Agent": "cleanpass", **headers},
        ) as client,
    ):
        adapter = adapter_for(target.runtime, itself.base_url, peek)
        yield LiveScene(plan, adapter, client, reporter, cancel, seed)
