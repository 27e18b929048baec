"""What becomes of a cell: by its run, a server that did not start, or a worker that was lost."""

from __future__ import annotations

from django.utils import timezone

from runs import claims as run_claims
from runs.launch.models import Launch
from runs.models import Outcome, Run, RunState
from runs.sweeps.figures import figures_of
from runs.sweeps.models import CellState, Sweep, SweepCell
from runs.sweeps.watch import NOT_SENT

MOST_ATTEMPTS = 3
TOO_LONG = "probe_limit"


def begin(cell: SweepCell, launch: Launch | None, run: Run) -> None:
    cell.run, cell.launch, cell.revision = run, launch, run.revision
    cell.state, cell.started_at = CellState.RUNNING, timezone.now()
    cell.attempts += 1
    cell.save()


def end(cell: SweepCell, run: Run, *, timed_out: bool = False) -> None:
    """From a finished run. One that was interrupted is run again, a few times at most."""
    if run.failure_class == "interrupted" and cell.attempts < MOST_ATTEMPTS:
        wait_again(cell)
        return
    cell.outcome, cell.failure_class = run.outcome, run.failure_class
    cell.explanation = run.explanation
    if timed_out:
        cell.outcome, cell.failure_class = Outcome.INCONCLUSIVE, TOO_LONG
        cell.explanation = (
            f"It was not over within the {cell.sweep.cell_timeout_s:,} s that a cell may take, "
            "and was broken off."
        )
    cell.figures = dict(figures_of(cell, run))
    cell.state, cell.finished_at = CellState.DONE, timezone.now()
    cell.save()


def wait_again(cell: SweepCell) -> None:
    """The interrupted run stays as a record; the cell gets another."""
    cell.state, cell.run, cell.launch, cell.started_at = CellState.WAITING, None, None, None
    cell.save()


def settle(sweep: Sweep) -> None:
    """Cells that a lost worker left running: done if their run was, else to be run again."""
    for cell in sweep.cells.filter(state=CellState.RUNNING).select_related("run", "sweep"):
        if cell.run and cell.run.state == RunState.FINISHED:
            end(cell, cell.run)
            continue
        if cell.run:
            run_claims.finish_unclaimed(cell.run.pk, NOT_SENT)
        wait_again(cell)


def fail_server(
    sweep: Sweep, parallel: int | None, launch: Launch | None, failure_class: str, words: str
) -> None:
    """Every cell that was to be measured on a server that did not start."""
    sweep.cells.filter(state=CellState.WAITING, runtime_parallel=parallel).update(
        state=CellState.FAILED,
        launch=launch,
        outcome=Outcome.FAIL,
        failure_class=failure_class,
        explanation=words,
        finished_at=timezone.now(),
    )


def failures(sweep: Sweep) -> int:
    """A server that did not start counts once, however many cells it had."""
    cells = sweep.cells.order_by()
    servers = cells.filter(state=CellState.FAILED).values("runtime_parallel").distinct().count()
    failed = cells.filter(state=CellState.DONE, outcome=Outcome.FAIL).count()
    return servers + failed + cells.filter(failure_class=TOO_LONG).count()
