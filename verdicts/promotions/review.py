"""What a reviewer needs on one page: gates, both models side by side, memory, approvals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from catalog.models import Deployment, FollowUp, Revision
from runs.memory.planner import Plan, plan
from runs.memory.residents import HostMemory, host_memory
from runs.memory.views import room
from runs.models import Run, RunState
from verdicts.models import Verdict
from verdicts.policies.models import Role
from verdicts.promotions.evaluating import Standing, standing_or_why
from verdicts.promotions.models import PrimarySlot, PromotionRequest
from verdicts.promotions.selectors import Approval, approvals_of, would_retire
from verdicts.promotions.slots import slot_for
from verdicts.selectors import Median, short_prompt_medians

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Side:
    """One deployment with its key figures, all measured by us on its active revision."""

    deployment: Deployment
    revision: Revision | None
    standing: Standing | None
    ttft_ms: Median | None
    decode_tps: Median | None
    held_bytes: int | None
    held_reason: str
    last_run: Run | None

    @property
    def gates_met(self) -> str:
        """ "12 of 14, 1 of them waived"; empty when nothing can be judged."""
        if self.standing is None:
            return ""
        total = len(self.standing.counting)
        waived = len(self.standing.waived)
        said = f"{total - len(self.standing.missing)} of {total}"
        return f"{said}, {waived} of them waived" if waived else said


@dataclass(frozen=True, slots=True)
class Headroom:
    """What its host has, what is on it, and what the requested configuration needs."""

    memory: HostMemory
    plan: Plan | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Review:
    """Everything on the page, as of one moment."""

    request: PromotionRequest
    standing: Standing | None
    problem: str
    slot: PrimarySlot
    asked: Side
    present: Side | None
    retires: list[Verdict]
    approvals: list[Approval]
    follow_ups: list[FollowUp]
    headroom: Headroom

    @property
    def sides(self) -> list[Side]:
        """What was asked for first; the present primary beside it, if there is one."""
        return [self.asked, *([self.present] if self.present else [])]

    @property
    def approvals_given(self) -> int:
        return sum(approval.counts for approval in self.approvals)

    @property
    def approvals_needed(self) -> int:
        return self.standing.approvals_needed if self.standing else 1

    @property
    def has_changed(self) -> bool:
        """Since it was asked for."""
        return bool(self.standing and self.standing.digest != self.request.evaluation.digest)


def review(request: PromotionRequest, *, at: datetime) -> Review:
    """For a request that is not decided: the evaluation is computed now."""
    role, deployment = Role(request.role), request.deployment
    standing, problem = standing_or_why(deployment, role, at=at)
    retires = would_retire(role, deployment)
    present = retires[0].deployment if retires else None
    memory = host_memory(deployment.host)
    figures = short_prompt_medians([d.pk for d in (deployment, present) if d])
    return Review(
        request=request,
        standing=standing,
        problem=problem,
        slot=slot_for(role),
        asked=side(deployment, standing, memory, figures),
        present=side(present, standing_or_why(present, role, at=at)[0], memory, figures)
        if present
        else None,
        retires=retires,
        approvals=approvals_of(request, standing.digest if standing else ""),
        follow_ups=list(deployment.follow_ups.filter(is_open=True)),
        headroom=headroom(deployment, request.revision, memory),
    )


def side(
    deployment: Deployment,
    standing: Standing | None,
    memory: HostMemory,
    figures: tuple[dict[int, Median], dict[int, Median]],
) -> Side:
    """`figures`: TTFT and decode by deployment, as `short_prompt_medians` gives them."""
    resident = next((r for r in memory.residents if r.deployment.pk == deployment.pk), None)
    ended = deployment.runs.filter(state=RunState.FINISHED).defer("plan", "report")
    return Side(
        deployment=deployment,
        revision=deployment.revisions.filter(is_active=True).first(),
        standing=standing,
        ttft_ms=figures[0].get(deployment.pk),
        decode_tps=figures[1].get(deployment.pk),
        held_bytes=resident.held_bytes if resident else None,
        held_reason=resident.reason if resident else "It is on another host.",
        last_run=ended.order_by("-pk").first(),
    )


def headroom(deployment: Deployment, revision: Revision, memory: HostMemory) -> Headroom:
    """The revision's own slots and context; None where it does not say them."""
    per_slot = revision.context_per_slot
    if not per_slot and revision.context_total and revision.parallel:
        per_slot = revision.context_total // revision.parallel
    if not (revision.parallel and per_slot):
        why = "Its slots and context are not recorded, so its need cannot be worked out."
        return Headroom(memory, None, why)
    cache_gib = (revision.prompt_cache_mib or 0) / 1024
    needed = plan(deployment, slots=revision.parallel, context=per_slot, cache_gib=cache_gib)
    return Headroom(memory, needed, room(needed.total_bytes, memory.total_bytes))
