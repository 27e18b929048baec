"""The inventory as CSV: the same rows, figures with their unit in the column's name."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from runs.templatetags.figures import configuration_short
from verdicts.selectors import InventoryRow

HEADER = [
    *("slug", "canonical_route", "model", "quantization", "format", "task"),
    *("runtime", "runtime_version", "configuration", "host"),
    *("verdict", "role", "label", "reason"),
    *("last_run", "last_run_outcome", "last_run_finished_at"),
    *("ttft_median_ms", "ttft_n", "decode_median_tps", "decode_n"),
]
# A spreadsheet would run a cell that starts with one of these.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class Line:
    """A file that hands back what the csv module writes to it."""

    def write(self, text: str) -> str:
        return text


def inventory_csv(rows: Iterable[InventoryRow]) -> Iterator[str]:
    """The header and one line a row."""
    writer = csv.writer(Line())
    yield writer.writerow(HEADER)
    for row in rows:
        yield writer.writerow([_harmless(cell) for cell in _cells(row)])


def _cells(row: InventoryRow) -> list[object]:
    deployment, revision, verdict = row.deployment, row.revision, row.verdict
    artifact, run = deployment.artifact, row.last_run
    return [
        deployment.slug,
        deployment.canonical_route,
        artifact.name,
        artifact.quantization,
        artifact.format,
        artifact.task,
        deployment.runtime.key,
        revision.runtime_build.version if revision else None,
        configuration_short(revision) if revision else None,
        deployment.host.key,
        row.verdict_key,
        verdict.role if verdict else None,
        verdict.label if verdict else None,
        verdict.reason if verdict else None,
        run.pk if run else None,
        run.outcome if run else None,
        run.finished_at.isoformat() if run and run.finished_at else None,
        row.ttft_ms.value if row.ttft_ms else None,
        row.ttft_ms.n if row.ttft_ms else None,
        row.decode_tps.value if row.decode_tps else None,
        row.decode_tps.n if row.decode_tps else None,
    ]


def _harmless(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return f"'{cell}"
    return cell
