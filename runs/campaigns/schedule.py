"""Which cycle is due when, and which part of the mix it asks. Pure, and the same every time."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from runs.campaigns.standing import Terms

JITTER = 0.2  # of a cycle: neither the server nor a cron job meets us at the same second
LONG_EVERY = 12
BURST_EVERY = 6
DAY_HOURS = range(8, 20)  # in the zone of the host's people: settings.TIME_ZONE


@dataclass(frozen=True, slots=True)
class Slot:
    """The time in which one cycle has to begin, so that it covers it."""

    number: int
    starts_at: datetime
    due_at: datetime
    ends_at: datetime


def slot(terms: Terms, started_at: datetime, seed: int, number: int) -> Slot:
    starts_at = started_at + timedelta(seconds=number * terms.cycle_s)
    ends_at = started_at + timedelta(seconds=min((number + 1) * terms.cycle_s, terms.duration_s))
    fraction = random.Random(f"{seed}:{number}").random()
    jitter = timedelta(seconds=fraction * JITTER * terms.cycle_s)
    return Slot(number, starts_at, min(starts_at + jitter, ends_at), ends_at)


def slot_at(terms: Terms, started_at: datetime, seed: int, now: datetime) -> Slot | None:
    """The slot that `now` lies in; None before the first and after the last."""
    elapsed_s = (now - started_at).total_seconds()
    if not 0 <= elapsed_s < terms.duration_s:
        return None
    return slot(terms, started_at, seed, int(elapsed_s // terms.cycle_s))


def part_of(number: int, profile: str, hour: int) -> str:
    """usual | long | burst | light. `hour` is local; every profile has its long ones."""
    if number % LONG_EVERY == LONG_EVERY // 2:
        return "long"
    if profile == "bursts" and number % BURST_EVERY == 1:
        return "burst"
    if profile == "daytime":
        return "light" if hour not in DAY_HOURS else ("burst" if number % 2 else "usual")
    return "usual"
