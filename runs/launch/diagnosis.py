"""What the last words of a server that did not start mean, in words for people."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meaning:
    """Why a server did not start. `line` is the one that told, if one did."""

    key: str
    sentence: str
    line: str = ""


@dataclass(frozen=True, slots=True)
class Sign:
    key: str
    pattern: re.Pattern[str]
    sentence: str


def sign(key: str, pattern: str, sentence: str) -> Sign:
    return Sign(key, re.compile(pattern, re.IGNORECASE), sentence)


# The most telling first: a missing file may be a consequence of a flag taken wrongly.
SIGNS = (
    sign(
        "unknown_flag",
        r"unrecognized arguments?|(?:invalid|unknown|unexpected) (?:argument|option|flag)|"
        r"no such option|flag provided but not defined",
        "The program does not know one of the arguments. Its version may be older or newer than "
        "the profile expects: compare with its --help, and correct the profile.",
    ),
    sign(
        "port_taken",
        r"address already in use|errno (?:48|98)\b|(?:couldn't|could not|cannot|failed to) bind",
        "The port is taken by another program. Launch again: another free port is chosen.",
    ),
    sign(
        "shape_mismatch",
        r"(?:shape|size) mismatch|wrong shape|expected shape|mismatched (?:shape|tensor)|"
        r"parameters? not in model|missing \d+ parameters|check_tensor_dims",
        "The weights do not fit the model's description (shape mismatch): the file is damaged, "
        "half downloaded, or made for another architecture or version of the runtime.",
    ),
    sign(
        "out_of_memory",
        r"out ?of ?memory|bad_alloc|(?:failed|unable|cannot|could not) (?:to )?allocate|"
        r"insufficient memory|\bMemoryError\b|no available memory for the cache",
        "There is not enough memory for weights, context and caches. Take fewer slots, less "
        "context per slot, a smaller KV type, or stop what else is loaded.",
    ),
    sign(
        "unsupported_model",
        r"unknown (?:model )?architecture|unsupported (?:model|architecture)|"
        r"model type \S+ not supported",
        "This version of the runtime does not know the model's architecture. Update it.",
    ),
    sign(
        "file_missing",
        r"no such file|file ?not ?found|failed to open|does not exist|no module named|"
        r"repository not found|(?:isn't|is not) a (?:local|valid) (?:folder|path|directory)",
        "A file or folder is missing. Look at the model path as the worker's machine sees it.",
    ),
    sign(
        "not_permitted",
        r"permission denied|operation not permitted",
        "The worker's user may not read a file or start the program.",
    ),
)
SILENT = "It said nothing that explains it; its last lines are below."


def explain(lines: Sequence[str], exit_code: int | None) -> Meaning:
    """The first known cause in the last lines. `exit_code` None: it did not end by itself."""
    for candidate in SIGNS:
        for line in lines:
            if candidate.pattern.search(line):
                return Meaning(candidate.key, candidate.sentence, line)
    if exit_code == -signal.SIGKILL:
        return Meaning(
            "killed", "It was killed from outside, most likely by the system for want of memory."
        )
    return Meaning("unknown", SILENT)


def ended(exit_code: int | None) -> str:
    """How it ended, as the beginning of a sentence."""
    if exit_code is None:
        return "It did not get ready in time"
    if exit_code >= 0:
        return f"It ended with exit code {exit_code}"
    known = {number.value: number.name for number in signal.Signals}
    return f"It ended by signal {known.get(-exit_code, -exit_code)}"
