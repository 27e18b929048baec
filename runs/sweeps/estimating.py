"""What a sweep may take, before it starts: time and memory, and where each figure is from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from django.conf import settings

from catalog.models import Deployment
from runs.engine.gguf_header import KvShape, NotReadable, kv_shape
from runs.launch.arguments import Parameters
from runs.launch.models import Launch, LaunchProfile
from runs.memory.planner import PerToken, bytes_per_token
from runs.models import Outcome, RunRequest
from runs.sweeps.grid import ANSWER_TOKENS, Place
from runs.sweeps.models import SweepCell

LOOK_BACK = 200  # requests
MIN_PROMPT_TOKENS = 128  # below, TTFT tells more of the way there than of the prompt
CELL_S = 4.0  # identity before and after, prompts, and the rest at the end
LAUNCHES = 5
# Slots are reserved whole when these start; a pool of these does not grow with slots.
FIXED_SLOTS = ("llama.cpp", "ollama")
ONE_POOL = ("vllm", "vllm-metal")


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds; None where nothing was measured. `source` in words."""

    low_s: float | None
    high_s: float | None
    source: str


@dataclass(frozen=True, slots=True)
class Need:
    """Memory of a server with so many slots, in bytes; None where a part is not known."""

    runtime_parallel: int
    total_bytes: int | None
    source: str
    origin: str = ""  # client (measured by us) or file


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of a whole sweep: what is skipped costs nothing."""

    cells: int
    skipped: int
    requests: int
    time: Time
    memory: list[Need] = field(default_factory=list)
    guard_bytes: int | None = None
    guard_origin: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def time_of(
    deployment: Deployment, profile: LaunchProfile | None, places: Sequence[Place]
) -> Time:
    """Prompts one after the other at worst, side by side in the slots at best."""
    rates = prefill_rates(deployment)
    sizes = [place.prompt_tokens or 0 for place in places]
    if any(sizes) and not rates:
        return Time(None, None, "No prompt of this deployment was timed yet, so nothing is known.")
    answer_s = typical_answer_s(deployment)
    each_s = median(rates) if rates else 0.0
    low = high = 0.0
    for place in places:
        times = 2 if place.cache == "repeat" else 1
        prompt_s = (place.prompt_tokens or 0) * each_s
        side_by_side = min(place.runtime_parallel or 1, place.client_concurrency)
        serial = place.client_concurrency * (prompt_s + answer_s) * times
        low, high = low + CELL_S + serial / side_by_side, high + CELL_S + serial
    load_s, loads = launches_s(profile, places)
    source = f"from {len(rates)} timed prompts of this deployment" if rates else "short prompts"
    return Time(round(low + load_s, 1), round(high + load_s, 1), f"{source}; {loads}")


def prefill_rates(deployment: Deployment) -> list[float]:
    """Seconds per prompt token of requests that were alone and fresh, newest first."""
    rows = RunRequest.objects.filter(
        run__deployment=deployment,
        cache="fresh",
        client_concurrency=1,
        ttft_ms__gt=0,
        prompt_tokens__gte=MIN_PROMPT_TOKENS,
    ).exclude(outcome=Outcome.FAIL)
    pairs = rows.order_by("-pk").values_list("ttft_ms", "prompt_tokens")[:LOOK_BACK]
    return [ttft_ms / 1000 / tokens for ttft_ms, tokens in pairs if ttft_ms and tokens]


def typical_answer_s(deployment: Deployment) -> float:
    """From the first token to the end, of streamed answers; nothing known counts as a second."""
    rows = RunRequest.objects.filter(
        run__deployment=deployment, streamed=True, ttft_ms__gt=0, end_ms__gt=0
    )
    pairs = rows.order_by("-pk").values_list("ttft_ms", "end_ms")[:LOOK_BACK]
    took = [(end_ms - ttft_ms) / 1000 for ttft_ms, end_ms in pairs if end_ms and ttft_ms]
    return median(took) if took else 1.0


def launches_s(profile: LaunchProfile | None, places: Sequence[Place]) -> tuple[float, str]:
    """Seconds for starting every server once, and from what that is known."""
    if profile is None:
        return 0.0, "nothing is launched"
    servers = len({place.runtime_parallel for place in places})
    loads = Launch.objects.filter(profile=profile, load_ms__isnull=False)
    known = [ms for ms in loads.values_list("load_ms", flat=True)[:LAUNCHES] if ms is not None]
    if not known:
        return 0.0, f"loading {servers} servers comes on top, it was not timed yet"
    return servers * median(known) / 1000, f"loading from {len(known)} earlier launches"


def need_of(
    deployment: Deployment, profile: LaunchProfile, base: Parameters, parallel: int, held: int
) -> Need:
    """The arithmetic, or what was measured with the same settings where that is more."""
    computed = computed_need(deployment, profile, base, parallel, held)
    peaks = measured_peaks(deployment, profile, base, parallel)
    if max(peaks, default=0) > (computed.total_bytes or 0):
        cells = f"{len(peaks)} cell{'s' * (len(peaks) > 1)}"
        words = f"the highest of {cells} of earlier sweeps with these settings"
        return Need(parallel, max(peaks), words, "client")
    return computed


def measured_peaks(
    deployment: Deployment, profile: LaunchProfile, base: Parameters, parallel: int
) -> list[int]:
    cells = SweepCell.objects.filter(
        sweep__deployment=deployment,
        sweep__profile=profile,
        sweep__base=asdict(base),
        runtime_parallel=parallel,
        figures__peak_rss_bytes__gt=0,
    )
    return [cell.figures["peak_rss_bytes"] for cell in cells.order_by("-pk")[:LOOK_BACK]]


def computed_need(
    deployment: Deployment, profile: LaunchProfile, base: Parameters, parallel: int, held: int
) -> Need:
    """Weights + slots x context x bytes per token + prompt cache. `held` is the most tokens that
    requests of one cell hold, for runtimes that reserve nothing."""
    runtime = profile.runtime.key
    if runtime in ONE_POOL:
        return Need(
            parallel,
            None,
            "Its sequences share one pool, sized as a share of memory and not by slots.",
        )
    weights = weights_bytes(deployment, base)
    per_token = per_token_of(deployment, base)
    if weights is None or per_token.bytes_per_token is None:
        missing = (
            "the size of the weights is not recorded" if weights is None else per_token.source
        )
        return Need(parallel, None, f"Not estimated: {missing}")
    reserved = parallel * base.context_per_slot if base.context_per_slot else None
    tokens = reserved if reserved and runtime in FIXED_SLOTS else held
    cache = (base.prompt_cache_mib or 0) * 1024**2
    total = round(weights + tokens * per_token.bytes_per_token + cache)
    words = f"weights, {tokens:,} tokens of context ({per_token.source})"
    words = f"{words}{' and prompt cache' if cache else ''}; the program itself comes on top"
    return Need(parallel, total, words, per_token.origin)


def weights_bytes(deployment: Deployment, base: Parameters) -> int | None:
    if deployment.artifact.size_bytes:
        return deployment.artifact.size_bytes
    try:
        return given_shape(deployment, base).file_bytes
    except NotReadable:
        return None


def per_token_of(deployment: Deployment, base: Parameters) -> PerToken:
    """The measured slope of the active revision, else a GGUF header: the given file's or the
    one that was seen loaded."""
    known = bytes_per_token(deployment, deployment.revisions.filter(is_active=True).first())
    if known.origin == "client":
        return known
    try:
        shape = given_shape(deployment, base)
        each = shape.bytes_per_token(base.kv_type)
    except NotReadable as reason:
        return known if known.bytes_per_token or not base.model_path else untold(reason)
    kv_type = base.kv_type or "F16"
    words = f"not measured; from the header of the given file ({shape.words}, {kv_type})"
    return PerToken(each, words, "file")


def untold(reason: NotReadable) -> PerToken:
    return PerToken(None, str(reason))


def given_shape(deployment: Deployment, base: Parameters) -> KvShape:
    """Of the file that the servers would load. Raises NotReadable."""
    if deployment.host.key != settings.LOCAL_HOST_KEY:
        raise NotReadable("the model file is on another machine.")
    if not base.model_path:
        raise NotReadable("no model file is given.")
    return kv_shape(base.model_path)


def held_tokens(places: Sequence[Place], parallel: int) -> int:
    """The most tokens that requests of one cell hold at one moment with so many slots."""
    return max(
        (
            min(place.client_concurrency, parallel) * ((place.prompt_tokens or 0) + ANSWER_TOKENS)
            for place in places
            if place.runtime_parallel == parallel
        ),
        default=0,
    )
