"""Tables as files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_response(
    name: str, columns: Sequence[str], rows: Iterable[Iterable[object]]
) -> HttpResponse:
    """Units are in the column names; what is missing is an empty cell."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    writer = csv.writer(response)
    writer.writerow(columns)
    writer.writerows([safe(cell) for cell in row] for row in rows)
    return response


def safe(cell: object) -> object:
    """A spreadsheet must not take text for a formula."""
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return f"'{cell}"
    return "" if cell is None else cell
