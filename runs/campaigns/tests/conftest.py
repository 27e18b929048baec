"""A campaign whose clock the test holds, and whose runs end as the test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from catalog.models import Deployment
from people.models import User
from runs import claims
from runs.campaigns.clock import Reading
from runs.campaigns.models import Campaign, Cycle, CycleState
from runs.campaigns.services import start_campaign
from runs.campaigns.ticking import tick
from runs.claims import Ending
from runs.tests.conftest import deployment as deployment
from runs.tests.conftest import host as host
from runs.tests.conftest import rung as rung

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CLEAN = Ending("clean_pass")


def server(**changed: Any) -> dict[str, Any]:
    """A run's report: who answered, and its memory."""
    facts = {"file": "/m/smollm2.gguf", "version": "b1", "process": {"started_s": 1000.0}}
    return {
        "identity_before": {"level": 5, "status": "verified", "facts": {**facts, **changed}},
        "memory": {"figure": "rss_bytes", "first_bytes": 9, "peak_bytes": 12, "last_bytes": 10},
    }


@dataclass(slots=True)
class World:
    """Wall and boot clock, and the machine's tick. `wall` may be set; `boot_s` only passes."""

    traveller: time_machine.Traveller
    wall: datetime = START
    boot_s: float = 500.0
    boot_id: str = "first boot"
    report: dict[str, Any] = field(default_factory=server)

    def pass_s(self, seconds: float) -> None:
        self.boot_s += seconds
        self.set_wall(self.wall + timedelta(seconds=seconds))

    def set_wall(self, wall: datetime) -> None:
        self.wall = wall
        self.traveller.move_to(wall)

    def tick(self) -> None:
        tick(Reading(self.wall, self.boot_s, self.boot_id))

    def work(self, campaign: Campaign, ending: Ending = CLEAN, worker: str = "w1") -> bool:
        """A worker takes what is queued and ends it so. False when nothing was queued."""
        cycle = campaign.cycles.filter(state=CycleState.RUNNING, run__state="queued").first()
        if cycle is None or cycle.run_id is None:
            return False
        held = claims.claim(cycle.run_id, worker=worker)
        assert held is not None
        return claims.finish(held, ending, report=self.report)

    def live(self, campaign: Campaign, cycles: int, ending: Ending = CLEAN) -> None:
        """This many slots, each with a look at its beginning and one after its jitter."""
        for _ in range(cycles):
            self.pass_s(campaign.terms["cycle_s"] / 2)
            self.tick()
            self.work(campaign, ending)
            self.pass_s(campaign.terms["cycle_s"] / 2)
            self.tick()
        campaign.refresh_from_db()

    def skip_quietly(self, campaign: Campaign, cycles: int) -> None:
        """As `live`, with rows written at once: nothing that the ticks would have noted."""
        last = campaign.cycles.order_by("-number").first()
        first = last.number + 1 if last else 0
        Cycle.objects.bulk_create(
            Cycle(
                campaign=campaign,
                number=number,
                due_at=self.wall,
                state=CycleState.DONE,
                outcome="clean_pass",
                worker="w1",
                requests=7,
                completed=7,
                rss_after_bytes=10,
                server_started_at=1000.0,
            )
            for number in range(first, first + cycles)
        )
        self.pass_s(cycles * campaign.terms["cycle_s"])
        Campaign.objects.filter(pk=campaign.pk).update(
            watched_at=self.wall, watched_boot_s=self.boot_s
        )


@pytest.fixture
def world(rung: list[int]) -> Iterator[World]:
    with time_machine.travel(START, tick=False) as traveller:
        yield World(traveller)


@pytest.fixture
def begin(olive: User, deployment: Deployment, world: World) -> Callable[..., Campaign]:
    def make(kind: str = "soak", **more: Any) -> Campaign:
        return start_campaign(actor=olive, deployment=deployment, kind=kind, **more)

    return make
