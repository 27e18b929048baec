"""What is really loaded, and how strong the proof is: a level of evidence, not a string.

E0 typed in, E1 echoed, E2 listed, E3 reported as loaded, E4 file or digest reported,
E5 confirmed by the process (arguments, open or mapped files), E6 confirmed by behaviour.
"""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from runs.engine.outcomes import Finding
from runs.engine.plan import Target
from runs.engine.records import Identity
from runs.engine.runtimes.base import ARTIFACT, LISTED, LOADED, PROCESS, Adapter, Facts
from runs.engine.runtimes.processes import ProcessHint, find_process

VERIFIED, ALIAS_ONLY = "verified", "alias_only"
MISMATCH, UNVERIFIABLE = "mismatch", "unverifiable"

# What must not change while a run goes on.
FIXED = ("file", "digest", "version", "quantization", "size_bytes", "n_params", "names")
LIMITS = ("parallel", "context_per_slot", "context_total")


async def identify(adapter: Adapter, target: Target) -> tuple[Identity, Facts]:
    """Ask the server and, where it is local, its process. Raises PeekError."""
    facts = await adapter.describe(target.model)
    process = await asyncio.to_thread(find_process, target.base_url)
    return weigh(facts, process, target), facts


async def identify_behind(adapter: Adapter, target: Target) -> tuple[Identity, Facts]:
    """As `identify`, of the server itself where a gateway or proxy stands before it: what such a
    layer says of identity is a name that it was given. Raises PeekError."""
    identity, facts = await identify(adapter, target.itself())
    if target.is_behind:
        identity.sentence = f"Read at the server behind the {target.layer}: {identity.sentence}"
    return identity, facts


def weigh(facts: Facts, process: ProcessHint | None, target: Target) -> Identity:
    """The level reached, whether it fits what was expected, and the sentence for people."""
    level = facts.level
    if process and facts.file and process.holds(facts.file):
        level = max(level, PROCESS)
    status, sentence = compare(facts, target, level)
    return Identity(level, status, sentence, collect(facts, process))


def compare(facts: Facts, target: Target, level: int) -> tuple[str, str]:
    """The first contradiction wins; without one, the level decides."""
    for wrong in (
        wrong_digest(facts, target),
        wrong_file(facts, target),
        wrong_name(facts, target),
    ):
        if wrong:
            return MISMATCH, wrong
    if level >= ARTIFACT:
        proof = "its process has it open" if level >= PROCESS else "the server names it"
        what = file_name(facts.file) or f"digest {facts.digest[:12]}"
        return VERIFIED, f"{target.model} is {what}: {proof}."
    if level >= LOADED:
        return VERIFIED, f"The server reports {target.model} as loaded, without naming the file."
    if level >= LISTED:
        return ALIAS_ONLY, f"The name {target.model} is listed; which model it is nobody says."
    return UNVERIFIABLE, f"Nothing that the server tells confirms {target.model}."


def wrong_digest(facts: Facts, target: Target) -> str:
    if not (target.expected_digest and facts.digest) or same_digest(facts, target):
        return ""
    return (
        f"The digest of the loaded model is {facts.digest[:12]}, "
        f"expected was {target.expected_digest[:12]}."
    )


def same_digest(facts: Facts, target: Target) -> bool:
    return facts.digest.removeprefix("sha256:") == target.expected_digest.removeprefix("sha256:")


def wrong_file(facts: Facts, target: Target) -> str:
    loaded, expected = file_name(facts.file), file_name(target.expected_file)
    if not (loaded and expected) or loaded == expected:
        return ""
    return f"The server has {loaded} loaded, expected was {expected}."


def wrong_name(facts: Facts, target: Target) -> str:
    """A name that the server does not have is answered by some other model, or by none."""
    known = {*facts.names, *facts.models}
    accepted = {target.model, *target.expected_names}
    if not known or known & accepted:
        return ""
    return f"The server has {', '.join(sorted(known)[:5])}, but not {target.model}."


def file_name(path: str) -> str:
    """Names are compared, not paths: the server may see the file elsewhere."""
    kind = PureWindowsPath if "\\" in path else PurePosixPath
    return kind(path).name


def collect(facts: Facts, process: ProcessHint | None) -> dict[str, Any]:
    """JSON-ready facts; what was not told is left out."""
    names = (*FIXED, *LIMITS, "models", "settings", "capabilities", "not_learned")
    told = {name: getattr(facts, name) for name in names}
    if process:
        told["process"] = {"pid": process.pid, "started_s": process.started_s}
    return {name: value for name, value in told.items() if value not in (None, "", [], {})}


def changes(before: Identity, after: Identity) -> list[Finding]:
    """What became different during the run; any of it voids the run."""
    old, new = before.facts.get("process"), after.facts.get("process")
    found = []
    if old and new and old != new:
        found.append(
            Finding(
                "process_restarted",
                f"The server process was replaced during the run: pid {old['pid']} before, "
                f"pid {new['pid']} after.",
            )
        )
    for name in (*FIXED, *LIMITS):
        if before.facts.get(name) != after.facts.get(name):
            found.append(
                Finding(
                    "identity_mismatch",
                    f"{name.replace('_', ' ')} changed during the run: "
                    f"{before.facts.get(name)} before, {after.facts.get(name)} after.",
                )
            )
    return found


def findings(identity: Identity) -> list[Finding]:
    """What an identity means for a run: a mismatch fails it, no proof degrades it."""
    if identity.status == MISMATCH:
        return [Finding("identity_mismatch", identity.sentence)]
    if identity.status == VERIFIED:
        return []
    return [Finding("identity_unverified", identity.sentence)]
