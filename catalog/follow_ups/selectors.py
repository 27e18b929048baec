"""Reading follow-ups: the list as its address asks for it, and what a form may choose from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from typing import Self
from urllib.parse import urlencode

from django.db.models import F, Prefetch, QuerySet
from django.http import QueryDict
from django.utils import timezone

from catalog.models import Deployment, FollowUp
from people.models import User

STATES = {"open": "Open", "closed": "Done", "overdue": "Overdue"}
MINE, NOBODY = "me", "nobody"


@dataclass(frozen=True, slots=True)
class FollowUpQuery:
    """The filters, as they stand in the page's address; empty: any."""

    state: str = ""
    deployment: str = ""
    assignee: str = ""  # a name, `me` or `nobody`

    @classmethod
    def from_address(cls, given: QueryDict) -> Self:
        state = given.get("state", "")
        return cls(
            state=state if state in STATES else "",
            deployment=given.get("deployment", "").replace("\x00", ""),
            assignee=given.get("assignee", "").replace("\x00", ""),
        )

    @property
    def is_filtered(self) -> bool:
        return any(asdict(self).values())

    def encode(self) -> str:
        return urlencode({name: value for name, value in asdict(self).items() if value})


def follow_ups(query: FollowUpQuery, person: User | None = None) -> QuerySet[FollowUp]:
    """Open ones first, the soonest due on top; `person` is who `me` means."""
    tied = Deployment.objects.select_related("artifact", "runtime")
    found = FollowUp.objects.select_related("assignee").prefetch_related(
        Prefetch("deployments", tied)
    )
    if query.state:
        found = found.filter(is_open=query.state != "closed")
    if query.state == "overdue":
        found = found.filter(due_on__lt=today())
    if query.deployment:
        found = found.filter(deployments__slug=query.deployment)
    if query.assignee == NOBODY:
        found = found.filter(assignee=None)
    elif query.assignee == MINE:
        found = found.filter(assignee=person)
    elif query.assignee:
        found = found.filter(assignee__username=query.assignee)
    return found.order_by("-is_open", F("due_on").asc(nulls_last=True), "pk")


def today() -> date:
    return timezone.now().date()


def deployments_followed() -> QuerySet[Deployment]:
    """Those that any follow-up is tied to."""
    tied = FollowUp.deployments.through.objects.values("deployment")
    return Deployment.objects.filter(pk__in=tied).select_related("artifact", "runtime")


def assignees() -> QuerySet[User]:
    """Who has anything to do, or had."""
    return User.objects.filter(follow_ups__isnull=False).distinct().order_by("username")


def open_about(deployment: Deployment, failure_class: str) -> FollowUp | None:
    """The open follow-up about this class of failure there, if one was raised already."""
    same = FollowUp.objects.filter(
        deployments=deployment, failure_class=failure_class, is_open=True
    )
    return same.first() if failure_class else None
