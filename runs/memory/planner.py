"""What a deployment would need with other slots, context and cache: measured slopes first."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from catalog.models import Deployment, Revision
from runs.engine.gguf_header import KvShape, NotReadable, kv_shape
from runs.memory.projection import growth_points, measured_growth, settled
from runs.memory.words import per_token
from runs.models import Run

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class PerToken:
    """Bytes that one token of context takes, and where that figure is from."""

    bytes_per_token: float | None
    source: str
    origin: str = ""  # client (measured by us) or file


@dataclass(frozen=True, slots=True)
class Plan:
    """slots x context x bytes per token + weights + prompt cache. None: a part is not known."""

    slots: int
    context: int
    cache_bytes: int
    weights_bytes: int | None
    weights_source: str
    per_token: PerToken

    @property
    def context_bytes(self) -> float | None:
        each = self.per_token.bytes_per_token
        return None if each is None else self.slots * self.context * each

    @property
    def total_bytes(self) -> float | None:
        if self.context_bytes is None or self.weights_bytes is None:
            return None
        return self.context_bytes + self.weights_bytes + self.cache_bytes


def plan(deployment: Deployment, *, slots: int, context: int, cache_gib: float) -> Plan:
    """The arithmetic for one deployment; parts that nobody knows stay unknown."""
    revision = deployment.revisions.filter(is_active=True).first()
    weights = deployment.artifact.size_bytes
    return Plan(
        slots=slots,
        context=context,
        cache_bytes=round(cache_gib * GIB),
        weights_bytes=weights,
        weights_source="size of the model file"
        if weights
        else "the artifact has no size recorded",
        per_token=bytes_per_token(deployment, revision),
    )


def bytes_per_token(deployment: Deployment, revision: Revision | None) -> PerToken:
    """The measured slope of this revision, else the header of the loaded GGUF file."""
    if revision and (points := settled(growth_points(revision))):
        fit = measured_growth(revision, points).fit
        if fit and fit.is_told_from_zero:
            return PerToken(fit.slope, f"measured by us: {per_token(fit)}", "client")
    try:
        shape = loaded_shape(deployment)
        kv_type = revision.kv_type if revision else ""
        each = shape.bytes_per_token(kv_type)
    except NotReadable as reason:
        return PerToken(None, f"Not measured on this revision, and not computed: {reason}")
    bound = ", an upper bound since some layers use a sliding window" * shape.is_upper_bound
    words = (
        f"not measured; from the model file's header ({shape.words}, {kv_type or 'F16'}{bound})"
    )
    return PerToken(each, words, "file")


def loaded_shape(deployment: Deployment) -> KvShape:
    """Of the file that the last run saw loaded, where that is on this machine."""
    if deployment.host.key != settings.LOCAL_HOST_KEY:
        raise NotReadable("the model file is on another machine.")
    run = Run.objects.filter(deployment=deployment).exclude(report={}).order_by("-pk").first()
    facts = (run.report.get("identity_before") or {}).get("facts", {}) if run else {}
    path = facts.get("file")
    if not isinstance(path, str) or not path:
        raise NotReadable("no run has seen which file is loaded.")
    return kv_shape(path)
