"""Editing suites. An edit is a new version; what runs used stays as it was."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug

from people.access import Action, require
from people.models import User
from runs.engine.checks.params import read_params
from runs.models import Suite
from runs.services import add_suite_version

MOST_CHECKS = 60
CheckData = dict[str, Any]


def save_suite(
    *,
    actor: User,
    key: str,
    name: str,
    description: str,
    checks: list[CheckData],
    is_new: bool = False,
) -> Suite:
    """Store the next version of a suite; the current one itself where nothing changed.

    Raises PermissionDenied, or ValidationError with what to put right.
    """
    require(actor, Action.EDIT_SUITE)
    name, description = name.strip(), description.strip()
    if not name or len(name) > 80:
        raise ValidationError({"name": "Give it a name of 80 characters at most."})
    validate_slug(key)
    current = Suite.objects.filter(key=key, is_current=True).first()
    if is_new and current is not None:
        raise ValidationError({"key": f"There is a suite {key} already: {current.name}."})
    checked = read_checks(checks)
    if current and (current.name, current.description, current.checks) == (
        name,
        description,
        checked,
    ):
        return current
    return add_suite_version(
        key=key, name=name, description=description, checks=checked, created_by=actor
    )


def read_checks(checks: list[CheckData]) -> list[CheckData]:
    """Every check known, every parameter within its bounds. Raises ValidationError."""
    if not checks:
        raise ValidationError("A suite needs at least one check.")
    if len(checks) > MOST_CHECKS:
        raise ValidationError(f"A suite holds {MOST_CHECKS} checks at most.")
    faults: list[str] = []
    found: list[CheckData] = []
    for place, check in enumerate(checks, 1):
        try:
            params = read_params(str(check.get("key", "")), check.get("params") or {})
        except ValueError as wrong:
            faults.append(f"Check {place}: {wrong}")
        else:
            found.append({"key": check["key"], "params": params})
    if faults:
        raise ValidationError(faults)
    return found


def restore_suite(*, actor: User, version: Suite) -> Suite:
    """Make an earlier version's content current again, as a new version."""
    return save_suite(
        actor=actor,
        key=version.key,
        name=version.name,
        description=version.description,
        checks=version.checks,
    )
