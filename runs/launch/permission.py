"""Whether this worker's environment lets it start programs, and which."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence

ALLOW, PROGRAMS = "CLEANPASS_ALLOW_LAUNCH", "CLEANPASS_LAUNCH_PROGRAMS"


class LaunchRefused(ValueError):
    """Nothing was started; the message says why and what to do."""


def require_launch(argv: Sequence[str], environment: Mapping[str, str] = os.environ) -> None:
    """Raises LaunchRefused unless the worker's environment allows this command."""
    if environment.get(ALLOW) != "1":
        raise LaunchRefused(
            f"This worker may not start programs: {ALLOW}=1 is not set in its environment. "
            "Whoever runs the worker decides that."
        )
    prefixes = allowed_commands(environment)
    if prefixes and not any(begins_with(argv, prefix) for prefix in prefixes):
        raise LaunchRefused(
            f"{argv[0]} is not among the programs that this worker may start ({PROGRAMS})."
        )


def allowed_commands(environment: Mapping[str, str] = os.environ) -> list[list[str]]:
    """Programs, or beginnings of commands, separated by semicolons; empty: every program."""
    entries = environment.get(PROGRAMS, "").split(";")
    return [words for entry in entries if (words := shlex.split(entry))]


def begins_with(argv: Sequence[str], prefix: Sequence[str]) -> bool:
    """The same program, followed by the same first arguments where the entry has any."""
    same = resolved(argv[0]) == resolved(prefix[0])
    return same and list(argv[1 : len(prefix)]) == list(prefix[1:])


def resolved(program: str) -> str:
    """The program as the system would find it."""
    return shutil.which(program) or program
