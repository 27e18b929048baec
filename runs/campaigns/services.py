"""Starting, pausing, extending and ending campaigns. What is due meanwhile is the tick's work."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from catalog.models import Deployment
from people.access import Action, require
from people.models import User
from runs.campaigns.kinds import terms_for
from runs.campaigns.mix import Basis, basis_for, make_mix
from runs.campaigns.models import OPEN, Campaign, CampaignState, Kind, NoteKind
from runs.campaigns.models import TrafficProfile as Profile
from runs.campaigns.notes import tell_note
from runs.campaigns.standing import Terms
from runs.planning import RunRefused, active_endpoint, active_revision

LONGEST_S = 90 * 24 * 3600


class CampaignRefused(ValueError):
    """A campaign cannot be started or changed; the message says why and what to do."""


def start_campaign(
    *,
    actor: User,
    deployment: Deployment,
    kind: str,
    layer: str = "direct",
    rehearsal_s: int | None = None,
    cycle_s: int | None = None,
    profile: str = Profile.STEADY,
    basis: str = "",
    note: str = "",
) -> Campaign:
    """Begin now, with the deployment's active revision. `rehearsal_s` makes it a rehearsal.

    Raises PermissionDenied, or CampaignRefused with what is missing.
    """
    require(actor, Action.START_CAMPAIGN)
    try:
        terms = terms_for(Kind(kind), rehearsal_s=rehearsal_s, cycle_s=cycle_s)
        revision = active_revision(deployment)
        endpoint = active_endpoint(deployment, layer)
        chosen = Basis(basis or basis_for(deployment.artifact.task))
        profile = Profile(profile)
    except (RunRefused, ValueError) as error:
        raise CampaignRefused(str(error)) from error
    now = timezone.now()
    try:
        with transaction.atomic():
            campaign = Campaign.objects.create(
                deployment=deployment,
                revision=revision,
                revision_fingerprint=revision.fingerprint,
                endpoint=endpoint,
                host=deployment.host,
                layer=layer,
                kind=kind,
                is_rehearsal=terms.is_rehearsal,
                terms=terms.as_dict(),
                mix=[part.as_dict() for part in make_mix(revision, chosen)],
                profile=profile,
                seed=secrets.randbelow(2**31),
                note=note[:300],
                started_at=now,
                ends_at=now + timedelta(seconds=terms.duration_s),
                requested_by=actor,
                requested_by_name=actor.get_username(),
            )
            tell_note(campaign, NoteKind.STARTED, by=actor)
    except IntegrityError as error:
        raise CampaignRefused(
            f"A {Kind(kind).label.lower()} of {deployment} through its {layer} layer is open "
            "already. End it first, or follow that one."
        ) from error
    return campaign


def pause_campaign(*, actor: User, campaign: Campaign) -> None:
    """Stop asking. The time until it is resumed is a gap, and counts as one."""
    require(actor, Action.CONTROL_CAMPAIGN)
    change(campaign, CampaignState.RUNNING, CampaignState.PAUSED, "Only a running one is paused.")
    tell_note(campaign, NoteKind.PAUSED, by=actor)


def resume_campaign(*, actor: User, campaign: Campaign) -> None:
    """Go on with the slot that is due now; what was missed stays missed."""
    require(actor, Action.CONTROL_CAMPAIGN)
    change(campaign, CampaignState.PAUSED, CampaignState.RUNNING, "It is not paused.")
    now = timezone.now()
    pauses = campaign.notes.filter(kind=NoteKind.PAUSED, until=None)
    pauses.update(until=now)
    tell_note(campaign, NoteKind.RESUMED, by=actor)


def extend_campaign(*, actor: User, campaign: Campaign, seconds: int) -> None:
    """Let it last longer. What failed or is missing stays so."""
    require(actor, Action.CONTROL_CAMPAIGN)
    with transaction.atomic():
        row = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if not row.is_open:
            raise CampaignRefused("It is over. Start a new one instead.")
        terms = Terms.from_dict(row.terms)
        longer = replace(terms, duration_s=terms.duration_s + seconds)
        if seconds < terms.cycle_s or longer.duration_s > LONGEST_S:
            raise CampaignRefused(
                f"Extend it by at least one cycle ({terms.cycle_s} s), to "
                f"{LONGEST_S // 86400} days at most."
            )
        if row.is_rehearsal and not longer.is_rehearsal:
            raise CampaignRefused("A rehearsal stays one: it cannot be extended into evidence.")
        row.terms = longer.as_dict()
        row.ends_at = row.started_at + timedelta(seconds=longer.duration_s)
        row.save(update_fields=["terms", "ends_at"])
        tell_note(row, NoteKind.EXTENDED, f"By {seconds / 60:,.0f} min.", by=actor)


def end_campaign(*, actor: User, campaign: Campaign, reason: str = "") -> None:
    """End it before its time: it has then proved nothing."""
    require(actor, Action.CONTROL_CAMPAIGN)
    said = f"Ended by {actor.get_username()} before its time. {reason}".strip()
    with transaction.atomic():
        ended = Campaign.objects.filter(pk=campaign.pk, state__in=OPEN).update(
            state=CampaignState.ENDED, explanation=said, finished_at=timezone.now()
        )
        if not ended:
            raise CampaignRefused("It is over already.")
        tell_note(campaign, NoteKind.FINISHED, said, by=actor)


def change(campaign: Campaign, before: str, after: str, refusal: str) -> None:
    if not Campaign.objects.filter(pk=campaign.pk, state=before).update(state=after):
        raise CampaignRefused(refusal)
