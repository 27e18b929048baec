"""What a case tells beside its exchanges: slots, listed models, gateway headers, memory."""

from __future__ import annotations

from typing import Any

from runs.engine.guards import Guard, Limits, ProcessWatch
from runs.engine.identity import UNVERIFIABLE, VERIFIED, weigh
from runs.engine.identity import findings as identity_findings
from runs.engine.outcomes import Finding
from runs.engine.plan import Target
from runs.engine.records import Identity
from runs.engine.runtimes import adapter_for
from runs.engine.runtimes.base import ARTIFACT, LISTED, Facts
from runs.engine.runtimes.peek import PeekError, open_peek

GB = 10**9
LOAD_OF = ("llama.cpp", "vllm", "omlx", "mtplx")
SAMPLE_KEYS = {
    "rss_gb": "rss_bytes",
    "phys_footprint_gb": "footprint_bytes",
    "uss_gb": "uss_bytes",
    "available_gb": "system_available_bytes",
    "swap_gb": "swap_used_bytes",
    "started_s": "process_started_s",
}
GONE = ("NoSuchProcess", "ZombieProcess", "exited", "gone")
UPSTREAM = "x-litellm-model-api-base"


async def busy_slots(url: str) -> int:
    """Requests that the server says it is running, whichever runtime's words it uses."""
    async with open_peek(url, "") as peek:
        for runtime in LOAD_OF:
            try:
                load = await adapter_for(runtime, url, peek).load()
            except PeekError:
                continue
            if load.running is not None:
                return load.running
    return 0


def identity_of(case: dict[str, Any], headers: dict[str, str]) -> Identity | None:
    """Where the case asks for it: the files and names that the server lists, or the upstream
    that a gateway names."""
    probe = case["probe"]
    if probe.get("identity") != "must_check":
        return None
    canonical = probe.get("canonical", {})
    if canonical.get("api_base"):
        return _upstream(canonical["api_base"], headers)
    target = Target(
        "http://127.0.0.1",
        canonical.get("requested", ""),
        expected_file=canonical.get("artifact", ""),
    )
    return weigh(_listed(case, target.model), None, target)


def _upstream(expected: str, headers: dict[str, str]) -> Identity:
    told = {name.lower(): value for name, value in headers.items()}.get(UPSTREAM)
    if told is None:
        return Identity(0, UNVERIFIABLE, "The gateway does not say which server answered.")
    if told.rstrip("/") != expected.rstrip("/"):
        return Identity(0, "mismatch", f"The gateway asked {told}, not {expected}.")
    return Identity(3, VERIFIED, f"The gateway asked {told}.")


def _listed(case: dict[str, Any], model: str) -> Facts:
    listing = next((a for a in case["wire"].get("aux", []) if "/models" in a["path"]), None)
    facts = Facts()
    if listing is None or listing.get("status", 200) != 200:
        return facts
    for entry in listing["json"].get("data", []):
        facts.models.append(entry["id"])
        if entry["id"] == model and entry.get("root") not in (None, "", model):
            facts.file, facts.level = entry["root"], ARTIFACT
    facts.level = max(facts.level, LISTED) if model in facts.models else facts.level
    return facts


def findings_of_identity(identity: Identity | None) -> list[Finding]:
    return [] if identity is None else identity_findings(identity)


def memory_of(case: dict[str, Any]) -> tuple[int | None, list[Finding]]:
    """Peak in bytes, and what the guards say to the samples as the sampler would feed them."""
    given = case["wire"].get("host_samples", [])
    if not given:
        return None, []
    limit = case["probe"].get("memory_guard_gb")
    guard = Guard(Limits(None if limit is None else limit * GB, 0, 10**15))
    watch = ProcessWatch()
    trips = []
    for sample in map(_payload, given):
        trips.append(guard.look(sample))
        if sample["pid"] is None or sample.get("process_started_s") is not None:
            watch.look(sample)
    over = [trip.finding() for trip in trips if trip and limit is not None][:1]
    return guard.peak_bytes, [*over, *guard.findings(), *watch.findings()]


def _payload(sample: dict[str, Any]) -> dict[str, Any]:
    """A case's sample in the keys of `memory.sample`. Unreadable is not gone."""
    told = {
        key: round(sample[name] * (GB if name.endswith("_gb") else 1))
        for name, key in SAMPLE_KEYS.items()
        if sample.get(name) is not None
    }
    pid = None if sample.get("error") in GONE else sample.get("pid")
    if pid is not None and not sample.get("error"):
        told.setdefault("process_started_s", 0)
    return {"t_ms": sample["t_ms"], "pid": pid, **told}
