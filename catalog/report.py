"""Reading the field report's facts: plain data in, rows to store out. No database here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from django.utils.text import slugify

REPORT = Path(__file__).parent / "data" / "report_facts.yaml"

MODEL_NAME = re.compile(
    r"(?P<family>.+?) (?P<size>\d+(?:\.\d+)?[BM](?: A\d+B)?)(?: (?P<tune>.+))?"
)
FIELDS_ABOUT_ALL = {"workload", "note", "approx", "historical", "source", "series", "unit"}
# What a series measures, by the unit the report gives it.
SERIES_METRICS = {
    "s": ("wall_s", "s"),
    "s wall": ("wall_s", "s"),
    "GiB": ("memory_gib", "GiB"),
}
UNITS = {"s": "s", "tps": "tok/s", "gib": "GiB", "rps": "req/s", "tokens": "tokens"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One imported figure: a value, a range up to `value_max`, or words."""

    workload: str
    metric: str
    unit: str = ""
    x_label: str = ""
    value: float | None = None
    value_max: float | None = None
    text: str = ""
    is_approximate: bool = False
    is_historical: bool = False
    reported_by: str = ""
    note: str = ""


def read_report(path: Path = REPORT) -> dict[str, Any]:
    """The facts as they are in the file."""
    data: dict[str, Any] = yaml.safe_load(path.read_text())
    return data


def written_on(report: dict[str, Any]) -> date:
    """The day the report was written."""
    return date.fromisoformat(str(report["report"]["written"]))


def claims_on(report: dict[str, Any]) -> date:
    """The day the community claims were added."""
    return date.fromisoformat(str(report["report"]["community_addendum"]))


def model_parts(model: str) -> dict[str, str]:
    """ "Qwen 3.6 35B A3B Genesis" as family, size label and tune; what is not named is empty."""
    words = model if " " in model else model.replace("-", " ")
    match = MODEL_NAME.fullmatch(words)
    if not match:
        return {"family": words, "size_label": "", "tune": ""}
    return {
        "family": match["family"],
        "size_label": match["size"],
        "tune": match["tune"] or "",
    }


def deployment_slug(row: dict[str, Any]) -> str:
    """Route or model, quantization and runtime: one address for each deployment."""
    said = row["model"].split()
    quantization = [word for word in row.get("quantization", "").split() if word not in said]
    name = row.get("canonical") or " ".join([*said, *quantization])
    return slugify(re.sub(r"[./]", "-", f"{name} {row['runtime']}"))[:120]


def deployment_note(row: dict[str, Any]) -> str:
    """The report's remarks that have no field of their own."""
    parts = [row.get("note", "")]
    if other := row.get("also_runtime"):
        parts.append(f"The report also ran it with {other}.")
    verdict = row["verdict"]
    if not verdict["state"]:
        parts += [verdict.get("label", ""), verdict.get("why", "")]
    sentences = [part[0].upper() + part[1:] for part in parts if part]
    return " ".join(part if part.endswith(".") else f"{part}." for part in sentences)


def figures_of(row: dict[str, Any]) -> Iterator[Figure]:
    """Every figure of a deployment, one for each value, range or position of a series."""
    for measurement in row.get("measurements", []):
        yield from _figures(measurement)


def _figures(measurement: dict[str, Any]) -> Iterator[Figure]:
    shared: dict[str, Any] = {
        "workload": measurement["workload"],
        "is_approximate": bool(measurement.get("approx")),
        "is_historical": bool(measurement.get("historical")),
        "reported_by": measurement.get("source", ""),
        "note": measurement.get("note", ""),
    }
    metrics = {k: v for k, v in measurement.items() if k not in FIELDS_ABOUT_ALL}
    for x, value in measurement.get("series", {}).items():
        metric, unit = SERIES_METRICS[measurement["unit"]]
        yield Figure(**shared, metric=metric, unit=unit, x_label=str(x), value=value)
    for metric, value in metrics.items():
        yield Figure(**shared, metric=metric, unit=_unit(metric), **_value(value))
    if not metrics and "series" not in measurement:
        yield Figure(**shared, metric="observation", text=shared["note"])


def _unit(metric: str) -> str:
    return UNITS.get(metric.rsplit("_", 1)[-1], "")


def _value(value: Any) -> dict[str, Any]:
    """A yes or no, a ratio such as "8/8", a range, or a number."""
    if isinstance(value, bool):
        return {"text": "passed" if value else "failed"}
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, list):
        return {"value": float(value[0]), "value_max": float(value[1])}
    return {"value": float(value)}
