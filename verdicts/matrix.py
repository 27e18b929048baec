"""The inventory as a matrix: base model down, runtime across, verdicts where they meet."""

from __future__ import annotations

from dataclasses import dataclass

from verdicts.inventory import VERDICT_ORDER, IndexRow, InventoryQuery

CELL_LIMIT = 6


@dataclass(frozen=True, slots=True)
class Cell:
    rows: list[IndexRow]
    more: int
    address: str  # the table with everything of this cell


@dataclass(frozen=True, slots=True)
class MatrixRow:
    title: str
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class Matrix:
    runtimes: list[str]
    rows: list[MatrixRow]


def base_model(row: IndexRow) -> str:
    """Family and size: what tunes and quantizations of one model share."""
    return f"{row['family'] or row['model']} {row['size']}".strip()


def build_matrix(rows: list[IndexRow], query: InventoryQuery) -> Matrix:
    """Every row in its cell, the most trusted first; long cells are cut and link to the rest."""
    runtimes = sorted({row["runtime"] for row in rows})
    cells: dict[tuple[str, str], list[IndexRow]] = {}
    for row in sorted(rows, key=lambda row: VERDICT_ORDER.index(row["verdict"])):
        cells.setdefault((base_model(row), row["runtime"]), []).append(row)
    models = sorted({model for model, _ in cells}, key=str.lower)
    return Matrix(
        runtimes=runtimes,
        rows=[
            MatrixRow(model, [_cell(cells.get((model, key), []), key, query) for key in runtimes])
            for model in models
        ],
    )


def _cell(rows: list[IndexRow], runtime: str, query: InventoryQuery) -> Cell:
    address = query.encode(view="", runtime=(runtime,), q=base_model(rows[0])) if rows else ""
    return Cell(rows[:CELL_LIMIT], max(0, len(rows) - CELL_LIMIT), address)
