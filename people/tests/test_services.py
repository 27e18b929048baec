from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command

from people.access import Action, Role, may, require
from people.models import User
from people.services import create_first_admin, create_person, ensure_roles

pytestmark = pytest.mark.django_db


def test_it_makes_a_group_for_each_role_once() -> None:
    ensure_roles()
    ensure_roles()
    assert set(Group.objects.values_list("name", flat=True)) == set(Role)


def test_it_makes_the_first_admin_with_a_one_time_password() -> None:
    admin, password = create_first_admin()
    assert password is not None
    assert admin.check_password(password)
    assert admin.must_change_password
    assert may(admin, Action.EDIT_ENDPOINT)


def test_it_keeps_the_admin_that_is_there() -> None:
    first, _ = create_first_admin()
    again, password = create_first_admin("another-long-password")
    assert (again, password) == (first, None)
    assert not again.check_password("another-long-password")


def test_a_given_password_is_no_one_time_password() -> None:
    admin, password = create_first_admin("given-by-the-environment")
    assert password is None
    assert admin.check_password("given-by-the-environment")
    assert not admin.must_change_password


def test_it_refuses_a_name_that_is_taken(vera: User) -> None:
    with pytest.raises(ValidationError, match="already exists"):
        create_person(name="vera", roles=[Role.VIEWER])


def test_each_role_may_what_the_table_says(olive: User, abel: User, vera: User, ada: User) -> None:
    assert [may(user, Action.START_RUN) for user in (vera, olive, abel, ada)] == [
        False,
        True,
        True,
        True,
    ]
    assert [may(user, Action.EDIT_ENDPOINT) for user in (vera, olive, abel, ada)] == [
        False,
        False,
        False,
        True,
    ]
    with pytest.raises(PermissionDenied, match="operator"):
        require(vera, Action.REGISTER_DEPLOYMENT)


def test_a_person_switched_off_may_nothing(olive: User) -> None:
    olive.is_active = False
    olive.save()
    assert not any(may(olive, action) for action in Action)


def test_the_command_adds_a_person_and_prints_the_password() -> None:
    out = StringIO()
    call_command("add_person", "olive", "--role", "operator", stdout=out)
    user = User.objects.get(username="olive")
    assert user.check_password(out.getvalue().split()[-1])
    assert user.must_change_password
    assert may(user, Action.START_RUN)


def test_the_command_refuses_an_unknown_role_and_names_the_known_ones() -> None:
    with pytest.raises(CommandError, match="viewer, operator, approver, admin"):
        call_command("add_person", "olive", "--role", "king")
    assert not User.objects.exists()
