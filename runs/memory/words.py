"""The findings in sentences: no more than the data support."""

from __future__ import annotations

from runs.memory.fits import Drift, Fit
from runs.memory.projection import CONTEXT_TARGET, Growth, Need
from runs.plots.units import bytes_unit, said_bytes
from runs.templatetags.figures import tokens_short

KIB = 1024
FAR = 2.0  # times the largest measured prompt


def growth_sentence(growth: Growth) -> str:
    """What was measured, and what a full context would need by it."""
    if not growth.tokens:
        return "Nothing was measured yet: run the suite Memory growth."
    if growth.fit is None:
        most = max(growth.grown_bytes)
        return (
            f"One prompt size was measured: {growth.largest:,} tokens took {said_bytes(most)}. "
            "A slope needs a second size."
        )
    if not growth.needs:
        return (
            f"No growth with prompt size can be told from these {growth.fit.n} points: "
            f"{per_token(growth.fit)}. Nothing is extrapolated from that."
        )
    return f"{need_sentence(growth)} The slope is {per_token(growth.fit)}."


def per_token(fit: Fit) -> str:
    """ "23.1 KiB ± 0.4 per prompt token (n=5)"."""
    error = "" if fit.slope_se is None else f" ± {_error(fit.slope_se / KIB)}"
    doubt = ", two sizes only, so without an error" if fit.slope_se is None else ""
    return f"{fit.slope / KIB:.3g} KiB{error} per prompt token (n={fit.n}{doubt})"


def need_sentence(growth: Growth) -> str:
    need = next(n for n in growth.needs if n.tokens == CONTEXT_TARGET and n.slots == growth.slots)
    parts = [
        f"{tokens_short(need.tokens)} in {_slots(need.slots)} would need about "
        f"{said_bytes(need.total_bytes)}{plus_minus(need)}"
    ]
    if need.idle_bytes is None:
        parts[0] += " on top of the idle server, whose memory was not reported"
    if growth.guard_bytes is None:
        parts[0] += "; no guard is set and the host's memory is not recorded"
    else:
        parts[0] += f"; the guard allows {said_bytes(growth.guard_bytes)}"
    if growth.host_bytes and need.total_bytes > growth.host_bytes:
        parts.append(f"That is more than the host's {said_bytes(growth.host_bytes)}")
    times = need.tokens / growth.largest
    if times >= FAR:
        parts.append(
            f"It is extrapolated {times:.0f} times beyond the largest measured prompt "
            f"({growth.largest:,} tokens)"
        )
    if growth.bends:
        parts.append(
            "Each step cost more per token than the one before, so a straight line is too low"
        )
    return ". ".join(parts) + "."


def plus_minus(need: Need) -> str:
    if need.se_bytes is None:
        return ""
    size, unit = bytes_unit(need.total_bytes)
    return f" ± {_error(need.se_bytes / size)} {unit}"


def _error(value: float) -> str:
    return f"{value:.2g}" if value >= 0.1 else "under 0.1"


def _slots(number: int) -> str:
    return "1 slot" if number == 1 else f"{number} slots"


def drift_sentence(drift: Drift | None, figure: str, span: str) -> str:
    """Bytes a day with the 95 % interval; `figure` such as RSS."""
    if drift is None:
        return f"{figure} over {span}: too few samples for a drift."
    low, high = said_bytes(drift.low), said_bytes(drift.high)
    if not drift.is_told_from_zero:
        return f"{figure} over {span}: no drift can be told (95 %: {low} to {high} a day)."
    word = "grew" if drift.slope > 0 else "fell"
    return (
        f"{figure} {word} by {said_bytes(abs(drift.slope))} a day over {span} "
        f"(95 %: {low} to {high} a day)."
    )
