"""Profiles: kept, checked, and turned into the command that a worker would start."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError

from catalog.runtimes import ensure_runtime
from people.access import Action, require
from people.models import User
from runs.launch.arguments import ArgumentRefused, Parameters, check_templates, fill, places
from runs.launch.models import LaunchProfile
from runs.launch.process import Command
from runs.launch.ready_made import READY_MADE

PYTHON = "{python}"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
# Ours, or able to make a program load other code.
NOT_FOR_PROGRAMS = re.compile(
    r"CLEANPASS_.*|DATABASE_URL|REDIS_URL|DJANGO_.*|LD_.*|DYLD_.*|PYTHON(?!UNBUFFERED).*|PATH"
)


def ensure_ready_made_profiles() -> None:
    """Store what comes with the product; a profile that a person has edited stays as it is."""
    for made in READY_MADE:
        values: dict[str, Any] = asdict(made)
        key = values.pop("key")
        values["runtime"] = ensure_runtime(values["runtime"])
        values["arguments"], values["inherited"] = list(made.arguments), list(made.inherited)
        values["is_ready_made"] = True
        if not LaunchProfile.objects.filter(key=key, updated_by__isnull=False).exists():
            LaunchProfile.objects.update_or_create(key=key, defaults=values)


def save_profile(*, actor: User, profile: LaunchProfile) -> LaunchProfile:
    """Store an edited or new profile. Raises PermissionDenied, ValidationError."""
    require(actor, Action.EDIT_LAUNCH_PROFILE)
    profile.updated_by = actor
    profile.full_clean()
    check_profile(profile)
    profile.save()
    return profile


def check_profile(profile: LaunchProfile) -> None:
    """Raises ValidationError by field for what could never be started safely."""
    checks: dict[str, tuple[Callable[[Any], None], Any]] = {
        "program": (check_program, profile.program),
        "arguments": (check_templates, profile.arguments),
        "extra_arguments": (check_templates, profile.extra_arguments),
        "variables": (check_variables, profile.variables),
        "inherited": (check_names, profile.inherited),
    }
    errors: dict[str, str] = {}
    for name, (check, value) in checks.items():
        try:
            check(value)
        except ArgumentRefused as refused:
            errors[name] = str(refused)
    if not errors and not profile.by_hand and "port" not in used_places(profile):
        errors["arguments"] = "The port must be passed somewhere: use {port}."
    if errors:
        raise ValidationError(errors)


def check_program(program: str) -> None:
    if program != PYTHON and (places([program]) or not program.isprintable()):
        raise ArgumentRefused("A program is a name or a path without places, or {python}.")


def check_variables(variables: dict[str, str]) -> None:
    check_templates(variables.values())
    check_names(variables)


def check_names(names: Iterable[str]) -> None:
    for name in names:
        if not NAME.fullmatch(name):
            raise ArgumentRefused(f"{name[:40]!r} is no name of an environment variable.")
        if NOT_FOR_PROGRAMS.fullmatch(name):
            raise ArgumentRefused(f"{name} is not passed to programs: it is ours or the system's.")


def used_places(profile: LaunchProfile) -> list[str]:
    """The parameters that this profile knows what to do with."""
    return places([*profile.templates, *profile.variables.values()])


def resolve(profile: LaunchProfile, parameters: Parameters) -> tuple[str, ...]:
    """The argument list for these values. Raises ArgumentRefused."""
    check_program(profile.program)
    program = sys.executable if profile.program == PYTHON else profile.program
    return (program, *fill(profile.templates, parameters.values()))


def resolve_variables(profile: LaunchProfile, parameters: Parameters) -> dict[str, str]:
    """Variables that the profile sets, filled in. Raises ArgumentRefused."""
    check_variables(profile.variables)
    filled = fill(profile.variables.values(), parameters.values())
    return dict(zip(profile.variables, filled, strict=True))


def command_of(
    profile: LaunchProfile, parameters: Parameters, environment: dict[str, str]
) -> Command:
    """What is started, with what the worker's `environment` lends. Raises ArgumentRefused."""
    check_names(profile.inherited)
    lent = {name: environment[name] for name in profile.inherited if name in environment}
    return Command(
        argv=resolve(profile, parameters),
        environment={**lent, **resolve_variables(profile, parameters)},
        folder=str(settings.BASE_DIR),
        secrets=tuple(lent.values()),
    )
