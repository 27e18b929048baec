"""Publishing what happened, reading the inbox, subscriptions and webhooks."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from catalog.models import Deployment
from people.access import Action, require
from people.models import User
from verdicts.notifications.models import (
    Delivery,
    InboxItem,
    Kind,
    Notice,
    Subscription,
    Webhook,
)


@transaction.atomic
def publish(
    *,
    kind: str,
    key: str,
    title: str,
    path: str,
    text: str = "",
    deployment: Deployment | None = None,
    people: Iterable[User] = (),
) -> Notice | None:
    """Tell subscribers, `people` and webhooks; None when `key` was told before.

    Call it inside the transaction of what happened: both are stored or neither.
    """
    notice, is_new = Notice.objects.get_or_create(
        key=f"{kind}:{key}"[:120],
        defaults={
            "kind": Kind(kind),
            "title": title[:200],
            "text": text[:2000],
            "path": path,
            "deployment": deployment,
        },
    )
    if not is_new:
        return None
    about = Q(deployment=None) | Q(deployment=deployment)
    wanting = Subscription.objects.filter(about, kind=kind, user__is_active=True)
    told = {*wanting.values_list("user_id", flat=True), *(person.pk for person in people)}
    InboxItem.objects.bulk_create(InboxItem(user_id=pk, notice=notice) for pk in sorted(told))
    hooks = [hook for hook in Webhook.objects.filter(about, is_active=True) if kind in hook.kinds]
    Delivery.objects.bulk_create(Delivery(webhook=hook, notice=notice) for hook in hooks)
    return notice


def mark_read(*, actor: User, item_id: int | None = None) -> int:
    """Mark one item of the actor's inbox as read, or all. Gives how many changed."""
    require(actor, Action.VIEW)
    mine = InboxItem.objects.filter(user=actor, read_at=None)
    if item_id is not None:
        mine = mine.filter(pk=item_id)
    return mine.update(read_at=timezone.now())


@transaction.atomic
def subscribe(
    *, actor: User, kinds: Iterable[str], deployment: Deployment | None = None
) -> list[str]:
    """Exactly these kinds, of one deployment or of all. Raises ValidationError."""
    require(actor, Action.VIEW)
    wanted = sorted(set(kinds))
    if unknown := set(wanted) - set(Kind.values):
        raise ValidationError({"kinds": f"No such kind: {', '.join(sorted(unknown))}."})
    Subscription.objects.filter(user=actor, deployment=deployment).delete()
    Subscription.objects.bulk_create(
        Subscription(user=actor, kind=kind, deployment=deployment) for kind in wanted
    )
    return wanted


def add_webhook(
    *,
    actor: User,
    name: str,
    url: str,
    secret_env: str,
    kinds: Iterable[str],
    deployment: Deployment | None = None,
) -> Webhook:
    """Register where notices are sent. Raises PermissionDenied, ValidationError."""
    require(actor, Action.EDIT_WEBHOOK)
    wanted = sorted(set(kinds))
    if not wanted or set(wanted) - set(Kind.values):
        raise ValidationError({"kinds": f"One or more of {', '.join(Kind.values)}."})
    hook = Webhook(
        name=name.strip(),
        url=url.strip(),
        secret_env=secret_env.strip(),
        kinds=wanted,
        deployment=deployment,
        created_by=actor,
    )
    hook.full_clean()
    hook.save()
    return hook


def switch_webhook(*, actor: User, webhook: Webhook, is_active: bool) -> None:
    """Switch a webhook on or off; what waits is sent once it is on again."""
    require(actor, Action.EDIT_WEBHOOK)
    Webhook.objects.filter(pk=webhook.pk).update(is_active=is_active)


def deliver_again(*, actor: User, delivery: Delivery) -> None:
    """Try a delivery anew, from the first attempt. Raises PermissionDenied."""
    require(actor, Action.EDIT_WEBHOOK)
    Delivery.objects.filter(pk=delivery.pk).update(
        state="pending", attempts=0, due_at=timezone.now(), seen=""
    )
