"""Discover: ask a running server what it is, and register what it says.

The only part of the catalog that uses the engine.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.db import transaction

from catalog.machine import ensure_local_host
from catalog.models import Deployment, Host, Layer, Origin, Task
from catalog.report import model_parts
from catalog.runtimes import ensure_runtime
from catalog.services import (
    ArtifactFacts,
    Configuration,
    EndpointFacts,
    activate_endpoint,
    activate_revision,
    create_deployment,
    ensure_artifact,
    find_deployment,
)
from people.access import Action, require
from people.models import User
from runs.engine.runtimes.detect import Discovery, DiscoveryError, discover
from runs.engine.runtimes.processes import digest_file

__all__ = ["DiscoveryError", "Found", "look_at", "register_discovered", "register_running_server"]

DEADLINE_S = 30.0
QUESTION_S = 5.0
HASH_LIMIT_BYTES = 2 * 1024**3  # a second or two of reading; larger files are hashed elsewhere
MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Found:
    """A discovery, in the catalog's words."""

    discovery: Discovery
    digest: str = ""

    @property
    def sentence(self) -> str:
        """What it is and why we think so."""
        through = f", through {self.discovery.gateway}" if self.discovery.is_gateway else ""
        evidence = " ".join(self.discovery.evidence)
        return f"{self.discovery.runtime_title} at {self.discovery.base_url}{through}. {evidence}"

    @property
    def file_name(self) -> str:
        """The file or folder without its path: paths are private."""
        return PurePosixPath(self.discovery.facts.file.replace("\\", "/")).name

    @property
    def layer(self) -> str:
        return Layer.GATEWAY if self.discovery.is_gateway else Layer.DIRECT

    @property
    def learned(self) -> list[str]:
        """Every fact in words, in the order people ask for them."""
        facts = self.discovery.facts
        told = {
            "Model name to send": self.discovery.model,
            "Also answers to": ", ".join(n for n in facts.names if n != self.discovery.model),
            "Loaded file": self.file_name,
            "SHA-256": self.digest and f"{self.digest[:12]}…, computed from the file",
            "Quantization": facts.quantization,
            "Size": facts.size_bytes and f"{facts.size_bytes / MIB:,.0f} MiB",
            "Version": facts.version,
            "Slots": facts.parallel,
            "Context per slot": facts.context_per_slot and f"{facts.context_per_slot:,} tokens",
            "Context, total": facts.context_total and f"{facts.context_total:,} tokens",
            "Can": ", ".join(facts.capabilities),
        }
        return [f"{what}: {value}" for what, value in told.items() if value]

    @property
    def not_learned(self) -> list[str]:
        gaps = self.discovery.not_learned
        return [gap for gap in gaps if not (self.digest and gap.startswith("digest"))]

    @property
    def warnings(self) -> list[str]:
        return self.discovery.warnings

    def artifact(self) -> ArtifactFacts:
        """The model file, named after itself where the server tells the file."""
        facts = self.discovery.facts
        name = self._model_name()
        return ArtifactFacts(
            name=name,
            task=self._task(),
            format="GGUF" if self.file_name.lower().endswith(".gguf") else "",
            quantization=facts.quantization[:80],
            file_name=self.file_name[:300],
            size_bytes=facts.size_bytes,
            digest_sha256=self.digest or _sha256(facts.digest),
            **model_parts(name),
        )

    def _model_name(self) -> str:
        """The file's name without ending and quantization; else the name the server gives."""
        stem = PurePosixPath(self.file_name).stem
        quantization = self.discovery.facts.quantization
        if quantization and stem.lower().endswith(quantization.lower()):
            stem = stem[: -len(quantization)].rstrip(".-_ ")
        return (stem or self.discovery.model)[:120]

    def _task(self) -> str:
        capabilities = self.discovery.facts.capabilities
        if "chat" in capabilities:
            return Task.GENERATION
        if "rerank" in capabilities:
            return Task.RERANK
        return Task.EMBEDDING if "embeddings" in capabilities else Task.GENERATION

    def configuration(self) -> Configuration:
        facts = self.discovery.facts
        return Configuration(
            runtime_version=facts.version[:120],
            parallel=facts.parallel or None,
            context_total=facts.context_total or None,
            context_per_slot=facts.context_per_slot or None,
            artifact_digest=self.digest or _sha256(facts.digest),
        )

    def form_values(self) -> dict[str, Any]:
        """Initial values of the registration form."""
        artifact, configuration = self.artifact(), self.configuration()
        return {
            "model": artifact.name,
            "route": self.discovery.model,
            "runtime": self.discovery.runtime,
            "host": self._host(),
            "task": artifact.task,
            "format": artifact.format,
            "quantization": artifact.quantization,
            "file_name": artifact.file_name,
            "size_bytes": artifact.size_bytes,
            "digest_sha256": artifact.digest_sha256,
            "runtime_version": configuration.runtime_version,
            "parallel": configuration.parallel,
            "context_total": configuration.context_total,
            "context_per_slot": configuration.context_per_slot,
        }

    def _host(self) -> Host | None:
        """This machine where the server's process is to be seen here."""
        here = Host.objects.filter(key=settings.LOCAL_HOST_KEY)
        return here.first() if self.discovery.process else None

    def endpoint(self, api_key_env: str = "") -> EndpointFacts:
        return EndpointFacts(
            base_url=self.discovery.base_url,
            served_model=self.discovery.model[:300],
            layer=self.layer,
            api_key_env=api_key_env,
        )


def _sha256(digest: str) -> str:
    """A server's digest where it is a SHA-256, with or without that prefix."""
    bare = digest.removeprefix("sha256:").lower()
    return bare if len(bare) == 64 and set(bare) <= set("0123456789abcdef") else ""


def look_at(address: str, *, api_key_env: str = "") -> Found:
    """Ask the address what it is; raises DiscoveryError with a sentence for the person.

    In a thread of its own, so that it works under any event loop, and within DEADLINE_S.
    """

    async def ask() -> Found:
        async with asyncio.timeout(DEADLINE_S):
            found = await discover(address, api_key_env=api_key_env, timeout_s=QUESTION_S)
            return Found(found, await asyncio.to_thread(local_digest, found))

    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(asyncio.run, ask()).result()
        except TimeoutError as error:
            raise DiscoveryError(
                f"{address} answered too slowly: stopped after {DEADLINE_S:g} s. "
                "It may be busy; try again, or fill in the form by hand."
            ) from error


def local_digest(found: Discovery) -> str:
    """SHA-256 of the loaded file, where a local process has it open and it is not too large.

    A path that only the server claims is never read.
    """
    file = found.facts.file
    if found.process is None or file not in found.process.weights:
        return ""
    try:
        small = Path(file).stat().st_size <= HASH_LIMIT_BYTES
        return digest_file(file) if small else ""
    except OSError:
        return ""


@transaction.atomic
def register_discovered(
    *, host_key: str, discovery: Found, actor: User | None = None
) -> Deployment:
    """Register what was found, or bring what is registered up to date.

    Idempotent: only a changed configuration makes a new revision, only a changed address a new
    endpoint. `actor` None is the product itself, registering its own demo runtime.
    Raises PermissionDenied, DiscoveryError when no model is named, Host.DoesNotExist.
    """
    if actor is not None:
        require(actor, Action.EDIT_ENDPOINT)
    route = discovery.discovery.model
    if not route:
        raise DiscoveryError(f"{discovery.discovery.base_url} names no model to register.")
    host = Host.objects.get(key=host_key)
    runtime = ensure_runtime(discovery.discovery.runtime)
    artifact = ensure_artifact(discovery.artifact(), origin=Origin.SERVER)
    deployment = find_deployment(
        route=route, artifact=artifact, runtime=runtime, host=host
    ) or create_deployment(
        route=route, artifact=artifact, runtime=runtime, host=host, origin=Origin.SERVER
    )
    activate_revision(deployment, discovery.configuration(), origin=Origin.SERVER)
    activate_endpoint(deployment, discovery.endpoint())
    return deployment


def register_running_server(*, base_url: str, host_key: str) -> Deployment:
    """Discover a server on this machine and register it as it describes itself."""
    ensure_local_host(host_key)
    return register_discovered(host_key=host_key, discovery=look_at(base_url))
