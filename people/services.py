"""Creating people and giving them roles."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import transaction

from people.access import Role
from people.models import User

FIRST_ADMIN = "admin"


def ensure_roles() -> None:
    """Every role is a group. Running it again changes nothing."""
    for role in Role:
        Group.objects.get_or_create(name=role.value)


@transaction.atomic
def create_person(
    *, name: str, roles: list[Role], password: str | None = None
) -> tuple[User, str]:
    """A new person and the password to hand over.

    Without a password a one-time one is made, which the first log-in must replace.
    Raises ValidationError when the name is taken or unusable.
    """
    ensure_roles()
    user = User(username=name, must_change_password=password is None)
    user.full_clean(exclude=["password"])
    given = password or secrets.token_urlsafe(12)
    user.set_password(given)
    user.save()
    user.groups.set(Group.objects.filter(name__in=[role.value for role in roles]))
    return user, given


def create_first_admin(password: str | None = None) -> tuple[User, str | None]:
    """The first admin, and the one-time password if one was made now.

    With an admin already there (or a password given) there is nothing to hand over: None.
    """
    known = User.objects.filter(groups__name=Role.ADMIN.value, is_active=True).first()
    if known is not None:
        return known, None
    user, given = create_person(name=FIRST_ADMIN, roles=[Role.ADMIN], password=password)
    return user, given if password is None else None


def parse_role(text: str) -> Role:
    """The role of that name; raises ValidationError naming those there are."""
    try:
        return Role(text)
    except ValueError:
        raise ValidationError(f"No role {text}. There are: {', '.join(Role)}.") from None
