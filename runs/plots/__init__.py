"""Plotly charts, built here and drawn by static/js/charts.js; every page takes them from here.

A chart is a figure without colours of its own (`var(--series-1)`: the page's palette, light or
dark), a sentence that tells the finding, a table, and a CSV of what is drawn.
"""

from runs.plots.chart import Chart, Table, drawn_rows
from runs.plots.figure import Axis, bars, build, guard_line, line, points, wall_line
from runs.plots.units import bytes_unit, time_unit

__all__ = [
    "Axis",
    "Chart",
    "Table",
    "bars",
    "build",
    "bytes_unit",
    "drawn_rows",
    "guard_line",
    "line",
    "points",
    "time_unit",
    "wall_line",
]
