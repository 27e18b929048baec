"""Cancel and release: we hang up in the middle, and the slot must come free."""

from __future__ import annotations

from runs.engine.checks.base import Check, Found, Params, Scene, chat, question
from runs.engine.checks.marker import request as marker
from runs.engine.clock import ms_between, now_ns
from runs.engine.judge import Expectation
from runs.engine.outcomes import Finding
from runs.engine.records import Ending
from runs.engine.runtimes.base import Load
from runs.engine.runtimes.peek import PeekError

TOKENS_BEFORE_CANCEL = 8
LOOKS = 4


async def run(scene: Scene, params: Params) -> Found:
    """Looks come after a silence: looking sooner would keep the work alive that we look for."""
    before = await look(scene)
    ask = question(scene, scene.prompts.endless())
    sent = await scene.send(
        chat(
            scene,
            "cancel",
            "cancelled while decoding",
            ask,
            Expectation(cancelled_by_check=True),
            stop_after_tokens=TOKENS_BEFORE_CANCEL,
        )
    )
    if sent.result.ending == Ending.COMPLETE:
        return Found([Finding("probe_limit", "The answer ended before we could hang up.")])
    found = await released(scene, before)
    await scene.send(marker(scene, "cancel", "marker after the cancel"))
    return found


async def released(scene: Scene, before: Load) -> Found:
    """Free again means as busy as before. The time is an upper bound: looks are far apart."""
    if before.running is None:
        return Found(figures={"release": "not reported by this runtime; the next request tells"})
    cancelled_ns, last = now_ns(), before
    for _ in range(LOOKS):
        await scene.wait(scene.adapter.poll_pause_s)
        last = await look(scene)
        if last.running is not None and last.running <= before.running and not last.waiting:
            return Found(figures={"released_within_ms": ms_between(cancelled_ns, now_ns())})
    waited_s = ms_between(cancelled_ns, now_ns()) / 1000
    return Found(
        [
            Finding(
                "stale_slot",
                f"{waited_s:.0f} s after we hung up, {last.running} requests were still running "
                f"({before.running} before) and {last.waiting or 0} waiting.",
            )
        ]
    )


async def look(scene: Scene) -> Load:
    try:
        return await scene.adapter.load()
    except PeekError:
        return Load()


CANCEL = Check(
    key="cancel",
    title="Cancel and release",
    description=(
        "Hangs up in the middle of a stream, then looks whether the slot is free again, and "
        "whether the next request is answered."
    ),
    run=run,
    requests=lambda params: 2,
)
