"""What the pages of campaigns show, put together from rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from runs.campaigns.models import OPEN, Campaign, CampaignState, Cycle, CycleState
from runs.campaigns.reading.charts import FIELDS, Point, charts_of, point_of
from runs.campaigns.reading.timeline import Mark, marks, slot_states
from runs.campaigns.selectors import cycle_facts
from runs.campaigns.standing import Standing, Terms, standing, would_fail_now
from runs.models import RunRequest
from runs.plots import Chart
from runs.traffic.selectors import Counted, completed_between

WALL_PLACES = 48
WORST_REQUESTS = 8
MARK = {
    CampaignState.RUNNING: "running",
    CampaignState.PAUSED: "queued",  # the mark alone; the word is the campaign's own
    CampaignState.PASSED: "clean_pass",
    CampaignState.FAILED: "fail",
    CampaignState.ENDED: "inconclusive",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A campaign with how it stands and its time line."""

    campaign: Campaign
    terms: Terms
    seen: Standing
    marks: list[Mark]
    elapsed_s: float

    @property
    def outcome(self) -> str:
        """The mark that tells its state by colour and shape."""
        state = CampaignState(self.campaign.state)
        if state == CampaignState.RUNNING and self.seen.consecutive_failed:
            return "degraded"
        return MARK[state]

    @property
    def sentence(self) -> str:
        if not self.campaign.is_open:
            return self.campaign.explanation
        told = f"{self.campaign.get_state_display()}"
        if self.seen.consecutive_failed:
            told += f"; the last {self.seen.consecutive_failed} without a clean pass"
        return f"{told}; nothing has failed it yet."

    @property
    def would_fail(self) -> list[str]:
        return would_fail_now(self.terms, self.seen) if self.campaign.is_open else []

    @property
    def is_troubled(self) -> bool:
        return self.campaign.state == CampaignState.FAILED or bool(self.seen.consecutive_failed)


def show(
    campaign: Campaign,
    now: datetime | None = None,
    *,
    places: int = 168,
    first: int = 0,
    last: int | None = None,
) -> Shown:
    terms, facts = Terms.from_dict(campaign.terms), cycle_facts(campaign)
    until = campaign.finished_at or now or timezone.now()
    seen = standing(terms, started_at=campaign.started_at, cycles=facts, now=until)
    elapsed_s = (until - campaign.started_at).total_seconds()
    states = slot_states(terms, facts, elapsed_s)
    line = marks(terms, campaign.started_at, states, first=first, last=last, places=places)
    return Shown(campaign, terms, seen, line, elapsed_s)


def listed(*, kind: str = "", state: str = "", deployment: str = "") -> QuerySet[Campaign]:
    """Newest first."""
    found = Campaign.objects.select_related("deployment__artifact", "host", "revision")
    if kind:
        found = found.filter(kind=kind)
    if state == "open":
        found = found.filter(state__in=OPEN)
    elif state:
        found = found.filter(state=state)
    if deployment:
        found = found.filter(deployment__slug=deployment)
    return found.order_by("-pk")


def on_the_wall(now: datetime | None = None) -> list[Shown]:
    """Open campaigns and those that ended within a day, trouble first."""
    now = now or timezone.now()
    yesterday = now - timedelta(days=1)
    recent = listed().filter(finished_at__gte=yesterday) | listed(state="open")
    tiles = [show(campaign, now, places=WALL_PLACES) for campaign in recent[:24]]
    return sorted(tiles, key=lambda tile: (not tile.is_troubled, not tile.campaign.is_open))


def points_of(campaign: Campaign) -> list[Point]:
    done = Cycle.objects.filter(
        campaign=campaign, state=CycleState.DONE, started_at__isnull=False
    ).order_by("number")
    return [point_of(row) for row in done.values(*FIELDS).iterator()]


def charts(campaign: Campaign) -> list[Chart]:
    keys = ("speed", "memory", "queue")
    csv = {key: reverse("campaign-csv", args=[campaign.pk, key]) for key in keys}
    return charts_of(points_of(campaign), csv)


def cycles_between(campaign: Campaign, first: int, last: int) -> Iterable[Cycle]:
    """Cycles of some slots, for the table beside the time line."""
    return Cycle.objects.filter(campaign=campaign, number__gte=first, number__lte=last).order_by(
        "number"
    )


def failed_cycles(campaign: Campaign) -> QuerySet[Cycle]:
    """Newest first: everything that was no clean pass, missed ones included."""
    return (
        campaign.cycles.exclude(outcome="clean_pass")
        .exclude(state=CycleState.RUNNING)
        .order_by("-number")
    )


def real_traffic(campaign: Campaign) -> Counted:
    """What a proxy reported of the same revision and layer meanwhile: shown beside, apart."""
    until = campaign.finished_at or timezone.now()
    return completed_between(
        campaign.deployment, campaign.revision, campaign.layer, campaign.started_at, until
    )


def worst_requests(campaign: Campaign) -> list[RunRequest]:
    """The slowest short, fresh ones that passed, and what failed last."""
    ours = RunRequest.objects.filter(run__cycle__campaign=campaign).select_related("run")
    failed = ours.exclude(outcome="clean_pass").order_by("-pk")[:WORST_REQUESTS]
    slow = ours.filter(outcome="clean_pass", ttft_ms__isnull=False, cache="fresh").order_by(
        "-ttft_ms"
    )[: WORST_REQUESTS - len(failed)]
    return [*failed, *slow]
