"""Whose request a record is: its route says the deployment, its time the revision."""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime

from catalog.models import Alias, Deployment, Endpoint
from runs.traffic.reading import LineRefused


class Belonging:
    """What a deployment's records must name, read once a delivery."""

    def __init__(self, deployment: Deployment, layer: str) -> None:
        self._slug = deployment.slug
        served = deployment.endpoints.filter(layer=layer).values_list("served_model", flat=True)
        self._own = {deployment.canonical_route, *served} - {""}
        revisions = deployment.revisions.order_by("number").values_list("created_at", "pk")
        self._since = [since for since, _ in revisions]
        self._ids = [pk for _, pk in revisions]
        self._told: dict[str, str] = {}

    def check(self, route: str) -> None:
        """Raises LineRefused unless the route is this deployment's own."""
        if route in self._own:
            return
        if route not in self._told:
            self._told[route] = whose(route, self._slug)
        raise LineRefused(self._told[route])

    def revision_at(self, at: datetime) -> int:
        """The id of the revision that was active then. Raises LineRefused before the first."""
        position = bisect_right(self._since, at)
        if not position:
            raise LineRefused(
                "at lies before the first configuration of this deployment was recorded, so "
                "nothing can be said of what answered"
            )
        return self._ids[position - 1]


def whose(route: str, slug: str) -> str:
    """Why a route is not this deployment's, in words."""
    others = Deployment.objects.filter(canonical_route=route) | Deployment.objects.filter(
        pk__in=Endpoint.objects.filter(served_model=route).values("deployment")
    )
    if other := others.exclude(slug=slug).first():
        return f"the route is of another deployment, {other.slug}"
    if Alias.objects.filter(name=route).exists():
        return "the route is an alias; only requests under the canonical route count"
    return "the route is unknown: no deployment answers under it"
