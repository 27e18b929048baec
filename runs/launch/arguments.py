"""From a profile's templates and given values to an argument list.

A value fills its place inside one argument and is never split, expanded again or seen by a
shell. Pure: no Django, no process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields

PLACE = re.compile(r"\{([a-z_]+)\}")
SECRET_FLAG = re.compile(r"(?i)^--?(?:.*[-_])?(?:api[-_]?key|password|secret|token)(?:=|$)")
KV_TYPE = re.compile(r"[A-Za-z0-9_]{1,20}")
PATH_CHARS = 1000
LONGEST_ARGUMENT = 2000
MOST_ARGUMENTS = 200
RANGES = {
    "parallel": (1, 1024),
    "context_per_slot": (1, 100_000_000),
    "prompt_cache_mib": (0, 16_777_216),
    "checkpoints": (0, 1_000_000),
    "port": (1, 65_535),
}


class ArgumentRefused(ValueError):
    """A template or a value cannot be used; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The named values of one launch. Contexts in tokens; None is `not given`."""

    parallel: int = 1
    context_per_slot: int | None = None
    kv_type: str = ""
    prompt_cache_mib: int | None = None
    checkpoints: int | None = None
    model_path: str = ""
    port: int | None = None

    @property
    def context_total(self) -> int | None:
        """Fixed slots: total = slots x per-slot."""
        if self.context_per_slot is None:
            return None
        return self.parallel * self.context_per_slot

    def values(self) -> dict[str, str]:
        """What can be filled in, by placeholder. Raises ArgumentRefused for a bad value."""
        self.check()
        known = {**asdict(self), "context_total": self.context_total}
        return {name: str(value) for name, value in known.items() if value not in (None, "")}

    def check(self) -> None:
        """Raises ArgumentRefused for a value out of its type or range."""
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not (type(value) is int and low <= value <= high):
                raise ArgumentRefused(f"{name} must be a whole number from {low:,} to {high:,}.")
        if self.kv_type and not KV_TYPE.fullmatch(self.kv_type):
            raise ArgumentRefused("kv_type is a short word of letters and digits, such as q8_0.")
        check_path(self.model_path)


def check_path(path: str) -> None:
    """Raises ArgumentRefused for what could be taken as a flag or cannot be passed at all."""
    if path.startswith("-"):
        raise ArgumentRefused("model_path begins with a dash: the program would read a flag.")
    if len(path) > PATH_CHARS or not path.isprintable():
        raise ArgumentRefused(f"model_path has control characters or over {PATH_CHARS} letters.")


NAMES = (*(entry.name for entry in fields(Parameters)), "context_total")


def places(templates: Iterable[str]) -> list[str]:
    """The placeholders used, each once, in order."""
    found = (name for template in templates for name in PLACE.findall(template))
    return list(dict.fromkeys(found))


def check_templates(templates: Iterable[str]) -> None:
    """Raises ArgumentRefused for unknown placeholders, keys, and what no program can be given."""
    templates = list(templates)
    for name in places(templates):
        if name not in NAMES:
            raise ArgumentRefused(f"There is no parameter {{{name}}}. There are: {listed()}.")
    if len(templates) > MOST_ARGUMENTS:
        raise ArgumentRefused(f"More than {MOST_ARGUMENTS} arguments.")
    for template in templates:
        if "\x00" in template or len(template) > LONGEST_ARGUMENT:
            raise ArgumentRefused("An argument is too long or has a NUL character.")
        if SECRET_FLAG.match(template):
            raise ArgumentRefused(
                f"{template.partition('=')[0]} would store a key here and show it in the list of "
                "processes. Name an environment variable of the worker instead."
            )


def fill(templates: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """One argument for each template. Raises ArgumentRefused when a value is missing."""
    templates = list(templates)
    check_templates(templates)
    missing = [name for name in places(templates) if name not in values]
    if missing:
        raise ArgumentRefused(f"A value is missing for {', '.join(missing)}.")
    # One pass: a value that looks like a placeholder stays as it is.
    return [PLACE.sub(lambda place: values[place[1]], template) for template in templates]


def listed() -> str:
    return " ".join(f"{{{name}}}" for name in NAMES)
