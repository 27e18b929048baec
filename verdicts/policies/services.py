"""Policies as shipped, their new versions, and waivers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from catalog.models import Revision
from people.access import Action, require
from people.models import User
from verdicts.ledger.services import append
from verdicts.policies.gates import SHIPPED, SHIPPED_BY, Gate
from verdicts.policies.models import PolicyVersion, Role, Waiver
from verdicts.policies.selectors import policy_at

MOST_DAYS = 90


class PolicyRefused(ValueError):
    """A policy or waiver cannot be stored; the message says why."""


def ensure_shipped_policies(at: datetime | None = None) -> None:
    """A first version for each role that has none. What people changed stays."""
    for role in Role:
        if not PolicyVersion.objects.filter(role=role).exists():
            add_version(role=role, gates=SHIPPED[role], note="as shipped", author=None, at=at)


def save_policy(
    *,
    actor: User,
    role: Role,
    gates: Sequence[Gate],
    note: str,
    approvals_needed: int = 1,
    days_to_decide: int = 7,
    based_on: int | None = None,
) -> PolicyVersion:
    """The next version, in force at once. `based_on`: the number that was edited.

    Raises PermissionDenied, or PolicyRefused.
    """
    require(actor, Action.EDIT_POLICY)
    if not note.strip():
        raise PolicyRefused("Say why it changes: a year later somebody will ask.")
    if not any(gate.counts for gate in gates):
        raise PolicyRefused("At least one gate has to count: without any, everything would pass.")
    keys = [gate.key for gate in gates]
    if len(set(keys)) != len(keys):
        raise PolicyRefused("Two gates have the same key.")
    current = PolicyVersion.objects.filter(role=role, is_current=True).first()
    if based_on is not None and current is not None and current.number != based_on:
        raise PolicyRefused(
            f"Version {current.number} came in meanwhile, by {current.author_name}. Look at it, "
            "then change it again."
        )
    return add_version(
        role=role,
        gates=gates,
        note=note,
        author=actor,
        approvals_needed=approvals_needed,
        days_to_decide=days_to_decide,
    )


@transaction.atomic
def add_version(
    *,
    role: Role,
    gates: Sequence[Gate],
    note: str,
    author: User | None,
    approvals_needed: int = 1,
    days_to_decide: int = 7,
    at: datetime | None = None,
) -> PolicyVersion:
    earlier = PolicyVersion.objects.filter(role=role)
    number = earlier.count() + 1
    earlier.filter(is_current=True).update(is_current=False)
    version = PolicyVersion.objects.create(
        role=role,
        number=number,
        gates=[gate.as_dict() for gate in gates],
        approvals_needed=approvals_needed,
        days_to_decide=days_to_decide,
        note=note[:300],
        author=author,
        author_name=author.get_username() if author else SHIPPED_BY,
        created_at=at or timezone.now(),
    )
    append(
        kind="policy",
        actor=author,
        actor_name=version.author_name,
        subject_kind="policy",
        subject_id=version.pk,
        title=f"Policy for {role.label}, version {number}",
        path=f"/policies/{role.value}/",
        payload={
            "role": role.value,
            "number": number,
            "reason": version.note,
            "approvals_needed": approvals_needed,
            "days_to_decide": days_to_decide,
            "gates": version.gates,
        },
    )
    return version


@transaction.atomic
def waive(
    *,
    actor: User,
    revision: Revision,
    role: Role,
    gate_key: str,
    reason: str,
    expires_at: datetime,
) -> Waiver:
    """Let one gate be for one revision until a day. Raises PermissionDenied or PolicyRefused."""
    require(actor, Action.WAIVE)
    now = timezone.now()
    policy = policy_at(role, now)
    gate = next((gate for gate in policy.gate_list if gate.key == gate_key), None)
    if gate is None:
        raise PolicyRefused(f"The policy for {role.label} has no gate {gate_key}.")
    if not gate.may_waive:
        raise PolicyRefused(f"{gate.title} cannot be waived: the policy does not allow it.")
    if not reason.strip():
        raise PolicyRefused("A waiver needs a reason: it stays on the verdict for good.")
    if not 0 < (expires_at - now).days + 1 <= MOST_DAYS:
        raise PolicyRefused(f"A waiver ends within {MOST_DAYS} days, and not in the past.")
    waiver = Waiver.objects.create(
        role=role,
        gate_key=gate_key,
        revision=revision,
        reason=reason,
        person=actor,
        person_name=actor.get_username(),
        created_at=now,
        expires_at=expires_at,
    )
    record_waiver(waiver, actor, f"Waived: {gate.title} of {revision}")
    return waiver


@transaction.atomic
def withdraw_waiver(*, actor: User, waiver: Waiver) -> None:
    """It ends now; that it was there stays visible."""
    require(actor, Action.WAIVE)
    ended = Waiver.objects.filter(pk=waiver.pk, withdrawn_at=None).update(
        withdrawn_at=timezone.now(), withdrawn_by_name=actor.get_username()
    )
    if not ended:
        raise PolicyRefused("It was withdrawn already.")
    record_waiver(waiver, actor, f"Waiver withdrawn: {waiver.gate_key} of {waiver.revision}")


def record_waiver(waiver: Waiver, actor: User, title: str) -> None:
    deployment = waiver.revision.deployment
    append(
        kind="waiver",
        actor=actor,
        subject_kind="waiver",
        subject_id=waiver.pk,
        title=title,
        path=f"/deployments/{deployment.slug}/gates/?role={waiver.role}",
        payload={
            "deployment": deployment.slug,
            "revision": waiver.revision.number,
            "fingerprint": waiver.revision.fingerprint,
            "role": waiver.role,
            "gate": waiver.gate_key,
            "reason": waiver.reason,
            "expires_at": waiver.expires_at,
        },
    )
