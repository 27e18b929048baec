"""A chart as pages show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Figure = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` hold text or numbers that are ready to be shown; units stand in `columns`."""

    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Chart:
    """`key` is its id in the page, `sentence` the finding in words."""

    key: str
    title: str
    sentence: str
    figure: Figure
    table: Table
    csv_url: str = ""
    note: str = ""  # how it was measured or computed


CSV_COLUMNS = ["series", "x", "x_unit", "y", "y_unit"]


def drawn_rows(figure: Figure) -> Iterator[list[Any]]:
    """Every point that the figure draws, as CSV_COLUMNS; gaps are left empty."""
    layout = figure["layout"]
    x_unit = layout["xaxis"].get("title", {}).get("text", "")
    for trace in figure["data"]:
        axis = layout[trace.get("yaxis", "y").replace("y", "yaxis")]
        y_unit = axis.get("title", {}).get("text", "")
        for x, y in zip(trace["x"], trace["y"], strict=True):
            yield [trace.get("name", ""), x, x_unit, y, y_unit]
