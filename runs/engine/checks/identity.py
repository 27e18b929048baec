"""Identity: no request to the model, only what the server and its process tell."""

from __future__ import annotations

from runs.engine.checks.base import Check, Found, Params, Scene
from runs.engine.identity import findings


async def run(scene: Scene, params: Params) -> Found:
    identity = scene.identity
    return Found(
        findings(identity),
        {"level": f"E{identity.level}", "status": identity.status, "sentence": identity.sentence},
    )


IDENTITY = Check(
    key="identity",
    title="Identity",
    description=(
        "Asks the server what it has loaded and, where it is local, its process. A name alone "
        "proves nothing."
    ),
    run=run,
    requests=lambda params: 0,
)
