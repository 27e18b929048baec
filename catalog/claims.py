"""Somebody else's figures: noted with their source, found again beside what they are about."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from catalog.models import Claim, Deployment
from people.access import Action, require
from people.models import User

MOST_FIGURES = 20
LONGEST = 200  # of a figure's name or value


@transaction.atomic
def add_claim(
    *,
    actor: User,
    subject: str,
    source: str,
    hardware: str = "",
    figures: dict[str, str] | None = None,
    caveat: str = "",
    deployments: Iterable[Deployment] = (),
) -> Claim:
    """Note a claim. Nothing is ever computed from it.

    Raises PermissionDenied; ValidationError when it lacks a source or is noted already.
    """
    require(actor, Action.ADD_CLAIM)
    if not source.strip():
        raise ValidationError({"source": "Say where this was published."})
    claim = Claim(
        subject=subject.strip(),
        source=source.strip(),
        hardware=hardware.strip(),
        figures=checked_figures(figures or {}),
        caveat=caveat.strip(),
        reported_on=timezone.now().date(),
    )
    claim.full_clean(exclude=["figures"])  # none is fine: impressions are claims as well
    claim.save()
    claim.deployments.set(deployments)
    return claim


def checked_figures(figures: dict[str, str]) -> dict[str, str]:
    """Raises ValidationError for too many, or a name or value that is none."""
    if len(figures) > MOST_FIGURES:
        raise ValidationError({"figures": f"{MOST_FIGURES} figures at most."})
    for text in (*figures, *figures.values()):
        if not text.strip() or len(text) > LONGEST or not text.isprintable():
            raise ValidationError(
                {"figures": f"Give names and values of 1 to {LONGEST} characters."}
            )
    return figures


def claims_about(deployment: Deployment) -> list[Claim]:
    """Those linked to the deployment, and those that name its family and size."""
    linked = list(deployment.claims.all())
    artifact = deployment.artifact
    size = artifact.size_label.split()[:1]
    if not artifact.family or not size:
        return linked
    named = Claim.objects.filter(deployments=None, subject__icontains=artifact.family)
    return linked + list(named.filter(subject__icontains=size[0]))
