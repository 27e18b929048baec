"""How sweeps and their cells are said."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.sweeps.grid import Place
from runs.sweeps.heatmap import Square
from runs.sweeps.models import Cache, CellState, Sweep, SweepCell, SweepState, Wish
from runs.sweeps.selectors import Progress
from runs.templatetags.figures import OUTCOMES, icon, outcome_badge

register = template.Library()

# state: (colour of the outcome of that name, icon). Word and shape tell it as well.
SWEEP_MARKS = {
    SweepState.PLANNED: ("queued", "waiting"),
    SweepState.RUNNING: ("running", "runs"),
    SweepState.PAUSED: ("degraded", "pause"),
    SweepState.FINISHED: ("clean_pass", "circle-check"),
    SweepState.CANCELLED: ("inconclusive", "stop"),
    SweepState.FAILED: ("fail", "circle-x"),
}
CELL_MARKS = {
    CellState.WAITING: ("queued", "waiting"),
    CellState.RUNNING: ("running", "runs"),
    CellState.SKIPPED: ("inconclusive", "x"),
    CellState.FAILED: ("fail", "circle-x"),
}


def mark(colour: str, shape: str, word: str) -> SafeString:
    return format_html('<span class="mark outcome-{}">{}{}</span>', colour, icon(shape), word)


@register.simple_tag
def sweep_state(sweep: Sweep) -> SafeString:
    colour, shape = SWEEP_MARKS[SweepState(sweep.state)]
    return mark(colour, shape, sweep.get_state_display())


@register.simple_tag
def cell_state(cell: SweepCell) -> SafeString:
    """The outcome of a cell that has a run; else how it stands."""
    if cell.state == CellState.DONE:
        return outcome_badge(cell.outcome)
    colour, shape = CELL_MARKS[CellState(cell.state)]
    word = "Server did not start" if cell.state == CellState.FAILED else cell.get_state_display()
    return mark(colour, shape, word)


@register.simple_tag
def square_mark(square: Square) -> SafeString:
    """The shape of its worst outcome, named for screen readers."""
    shape, word = OUTCOMES.get(square.outcome, ("info", "no outcome"))
    return icon(shape, word)


@register.simple_tag
def sweep_sentence(sweep: Sweep, progress: Progress, has_worker: bool) -> str:
    """What happens just now."""
    if sweep.wish:
        return f"It was asked to {Wish(sweep.wish).label}, and looks every second."
    if sweep.state == SweepState.RUNNING:
        if progress.running is None:
            return "A server is starting or warming up." if sweep.profile_id else "Warming up."
        return f"Measuring {place_short(progress.running)}."
    if sweep.state == SweepState.PLANNED and not has_worker:
        return f"No worker is alive for {sweep.host}."
    words = {
        SweepState.PLANNED: "It begins as soon as its worker is free.",
        SweepState.PAUSED: f"{progress.total - progress.over} cells still have to run.",
        SweepState.FINISHED: "Every cell has been measured, skipped or explained.",
        SweepState.CANCELLED: "Finished cells stay; the others were not measured.",
        SweepState.FAILED: "What was left has not been measured.",
    }
    return words[SweepState(sweep.state)]


@register.filter
def cache_title(cache: str) -> str:
    return str(Cache(cache).label).lower()


@register.filter
def place_short(place: Place | SweepCell) -> str:
    """ "p2 · 4 clients · 2,048 tokens · fresh"; a repeat of the cell is counted from 1."""
    parallel, clients = place.runtime_parallel, place.client_concurrency
    parts = [f"p{parallel}"] if parallel else []
    parts.append(f"{clients} client" if clients == 1 else f"{clients} clients")
    if place.prompt_tokens:
        parts.append(f"{place.prompt_tokens:,} tokens")
    parts.append(cache_title(place.cache))
    if place.repeat:
        parts.append(f"again ({place.repeat + 1})")
    return " · ".join(parts)


@register.filter
def grid_short(sweep: Sweep) -> str:
    """ "p1, p2 × 1, 2, 4 clients, 2,048 tokens, fresh"."""
    grid = sweep.grid
    parallels = ", ".join(f"p{count}" for count in grid["runtime_parallel"])
    clients = f"{', '.join(map(str, grid['client_concurrency']))} clients"
    sizes = ", ".join(f"{tokens:,}" for tokens in grid["prompt_tokens"])
    asked = f"{sizes} tokens" if sizes else str(sweep.get_workload_display()).lower()
    caches = " and ".join(cache_title(cache) for cache in grid["caches"])
    return (
        f"{parallels} × {clients}, {asked}, {caches}"
        if parallels
        else f"{clients}, {asked}, {caches}"
    )
