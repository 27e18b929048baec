"""From what was typed to a sweep that can start: cells, what is skipped, what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from catalog.models import Deployment, Endpoint, Layer, Revision, Task
from runs.engine.checks.pooling_load import DEFAULT_ROUNDS
from runs.engine.guards import said
from runs.launch.arguments import ArgumentRefused, Parameters
from runs.launch.models import LaunchProfile
from runs.launch.services import resolve, used_places
from runs.memory.budget import PROCESS_GIB, limits_for
from runs.planning import RunRefused, active_endpoint, active_revision
from runs.sweeps.estimating import Estimate, Need, Time, held_tokens, need_of, time_of
from runs.sweeps.grid import Grid, GridRefused, Place, arithmetic, does_not_fit
from runs.sweeps.models import Workload

MIB = 1024**2
SHOWN_PORT = 8999
MIN_TIMEOUT_S, MAX_TIMEOUT_S = 5, 86_400
MOST_FAILURES = 400
WORKLOADS = {
    Task.GENERATION: Workload.CHAT,
    Task.EMBEDDING: Workload.EMBEDDINGS,
    Task.RERANK: Workload.RERANK,
}
EXTERNAL = (
    "Somebody else runs this server, and how many slots it has is theirs to decide: a sweep that "
    "changed it would need to start and stop it. So only client concurrency is swept, against the "
    "active revision. Choose a launch profile to sweep runtime parallel."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What was typed. `profile` None: somebody else runs the server."""

    deployment: Deployment
    profile: LaunchProfile | None = None
    layer: str = Layer.DIRECT
    base: Parameters = field(default_factory=Parameters)
    grid: Grid = field(default_factory=Grid)
    guards: dict[str, float] = field(default_factory=dict)
    cell_timeout_s: int = 900
    max_failures: int = 5

    @property
    def workload(self) -> Workload:
        """A model is asked for what it is made for."""
        return WORKLOADS[Task(self.deployment.artifact.task)]


@dataclass(frozen=True, slots=True)
class PlannedCell:
    place: Place
    skip_reason: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """Cells in the order in which they would run."""

    cells: list[PlannedCell]
    estimate: Estimate
    sums: list[str]  # slots x context, one a server
    why_external: str = ""

    @property
    def skipped(self) -> list[PlannedCell]:
        return [cell for cell in self.cells if cell.skip_reason]


def plan_sweep(draft: Draft, *, seed: int) -> Planned:
    """Raises GridRefused with the field that must be put right."""
    check_draft(draft)
    order = draft.grid.ordered(seed)
    guard_bytes, guard_origin = guard_of(draft)
    needs = {need.runtime_parallel: need for need in needs_of(draft, order)}
    context = context_of(draft)
    cells = [
        PlannedCell(
            place,
            does_not_fit(place, context)
            or over_guard(needs.get(place.runtime_parallel or 0), guard_bytes, guard_origin),
        )
        for place in order
    ]
    left = [cell.place for cell in cells if not cell.skip_reason]
    estimate = Estimate(
        cells=len(cells),
        skipped=len(cells) - len(left),
        requests=requests_of(draft, left),
        time=time_of(draft.deployment, draft.profile, left) if left else NOTHING_LEFT,
        memory=[needs[parallel] for parallel in sorted(needs)],
        guard_bytes=guard_bytes,
        guard_origin=guard_origin,
    )
    sums = [arithmetic(p, context) for p in draft.grid.runtime_parallel] if context else []
    return Planned(cells, estimate, sums, "" if draft.profile else EXTERNAL)


NOTHING_LEFT = Time(0.0, 0.0, "every cell is skipped")


def check_draft(draft: Draft) -> None:
    """Raises GridRefused."""
    grid = draft.grid
    grid.check(draft.base.context_per_slot)
    if not MIN_TIMEOUT_S <= draft.cell_timeout_s <= MAX_TIMEOUT_S:
        raise GridRefused(
            "cell_timeout_s", f"From {MIN_TIMEOUT_S} to {MAX_TIMEOUT_S:,} seconds for a cell."
        )
    if not 1 <= draft.max_failures <= MOST_FAILURES:
        raise GridRefused("max_failures", f"From 1 to {MOST_FAILURES} failures.")
    if draft.workload != Workload.CHAT and (grid.prompt_tokens or grid.caches != ("fresh",)):
        raise GridRefused(
            "prompt_tokens",
            "Embeddings and rerank are asked with short fresh texts: leave the prompt size empty.",
        )
    if draft.profile is None:
        check_external(draft)
    else:
        check_launched(draft, draft.profile)


def check_external(draft: Draft) -> None:
    if draft.grid.runtime_parallel:
        raise GridRefused("runtime_parallel", EXTERNAL)
    try:
        external_target(draft)
    except RunRefused as refused:
        raise GridRefused("layer", str(refused)) from refused


def external_target(draft: Draft) -> tuple[Revision, Endpoint]:
    """What is swept when somebody else runs the server. Raises RunRefused."""
    if draft.layer not in Layer.values:
        raise RunRefused(f"There is no layer {draft.layer}.")
    return active_revision(draft.deployment), active_endpoint(draft.deployment, draft.layer)


def check_launched(draft: Draft, profile: LaunchProfile) -> None:
    """The profile must be able to start each of the servers."""
    if profile.by_hand:
        raise GridRefused("profile", profile.by_hand)
    if profile.runtime_id != draft.deployment.runtime_id:
        raise GridRefused(
            "profile",
            f"{profile} starts {profile.runtime}, and {draft.deployment} is served by "
            f"{draft.deployment.runtime}. Nothing is carried from one runtime to another.",
        )
    if draft.layer != Layer.DIRECT:
        raise GridRefused("layer", "A server that we launch is asked directly.")
    parallels = draft.grid.runtime_parallel
    if not parallels:
        raise GridRefused("runtime_parallel", "Give the numbers of slots to launch with.")
    if len(parallels) > 1 and "parallel" not in used_places(profile):
        raise GridRefused(
            "runtime_parallel",
            f"{profile} has no place for {{parallel}}: every server would be the same.",
        )
    for parallel in parallels:
        try:
            resolve(profile, replace(draft.base, parallel=parallel, port=SHOWN_PORT))
        except ArgumentRefused as refused:
            raise GridRefused("base", str(refused)) from refused


def context_of(draft: Draft) -> int | None:
    """Tokens of one slot, as launched or as the active revision has it."""
    if draft.profile is not None:
        return draft.base.context_per_slot
    return external_target(draft)[0].context_per_slot


def guard_of(draft: Draft) -> tuple[int | None, str]:
    """The limit of the server's memory and where it comes from."""
    revision = None if draft.profile else external_target(draft)[0]
    limits = limits_for(revision, draft.deployment.host, **draft.guards)
    budget_mib = draft.profile.memory_budget_mib if draft.profile else None
    if budget_mib and not draft.guards.get(PROCESS_GIB):
        return budget_mib * MIB, "the memory budget of the profile"
    return limits.process_bytes, limits.origin


def needs_of(draft: Draft, places: list[Place]) -> list[Need]:
    """Of every server that would be launched."""
    if draft.profile is None:
        return []
    return [
        need_of(draft.deployment, draft.profile, draft.base, p, held_tokens(places, p))
        for p in draft.grid.runtime_parallel
    ]


def over_guard(need: Need | None, guard_bytes: int | None, guard_origin: str) -> str:
    """Why this server is not even tried; empty when it is, also where nobody knows its need."""
    if need is None or need.total_bytes is None or guard_bytes is None:
        return ""
    if need.total_bytes <= guard_bytes:
        return ""
    return (
        f"With {need.runtime_parallel} slots the server would need about "
        f"{said(need.total_bytes)} ({need.source}), and the guard allows {said(guard_bytes)} "
        f"({guard_origin})."
    )


def requests_of(draft: Draft, places: list[Place]) -> int:
    """To the model, warm-up included."""
    if draft.workload == Workload.CHAT:
        asked = sum(p.client_concurrency * (2 if p.cache == "repeat" else 1) for p in places)
    else:
        asked = sum(p.client_concurrency * DEFAULT_ROUNDS for p in places)
    servers = len({place.runtime_parallel for place in places})
    return asked + servers * draft.grid.warm_up
