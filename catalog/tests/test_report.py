"""Nothing of the report may be lost on the way in: counted against the file itself."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.report import (
    Figure,
    deployment_note,
    deployment_slug,
    figures_of,
    model_parts,
    read_report,
)

REPORT = read_report()
ABOUT = {"workload", "note", "approx", "historical", "source", "unit"}


def rows() -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in REPORT["deployments"]}


def leaves(measurement: dict[str, Any]) -> int:
    """Values the file gives: a range is one figure, a series one for each position."""
    series = len(measurement.get("series", {}))
    return series + len(set(measurement) - ABOUT - {"series"})


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [n for item in value.values() for n in numbers_in(item)]
    if isinstance(value, list):
        return [n for item in value for n in numbers_in(item)]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [float(value)] if is_number else []


@pytest.mark.parametrize("row", REPORT["deployments"], ids=lambda row: row["id"])
def test_every_figure_of_a_deployment_arrives(row: dict[str, Any]) -> None:
    figures = list(figures_of(row))
    for measurement in row.get("measurements", []):
        of_it = [f for f in figures if f.workload == measurement["workload"]]
        same = [m for m in row["measurements"] if m["workload"] == measurement["workload"]]
        assert len(of_it) == sum(max(1, leaves(m)) for m in same)


@pytest.mark.parametrize("row", REPORT["deployments"], ids=lambda row: row["id"])
def test_every_number_and_note_of_a_deployment_arrives(row: dict[str, Any]) -> None:
    figures = list(figures_of(row))
    arrived = [f.value for f in figures if f.value is not None]
    arrived += [f.value_max for f in figures if f.value_max is not None]
    measurements = row.get("measurements", [])
    assert sorted(arrived) == sorted(numbers_in(measurements))
    notes = {m["note"] for m in measurements if "note" in m}
    assert notes == {f.note for f in figures if f.note}


def test_no_value_in_the_file_was_torn_apart_by_its_commas() -> None:
    torn = [
        (row["id"], key)
        for row in REPORT["deployments"]
        for part in [row["verdict"], *row.get("measurements", [])]
        for key, value in part.items()
        if value is None and key != "state"
    ]
    assert torn == []


def test_ranges_ratios_series_and_marks_keep_their_shape() -> None:
    a1 = list(figures_of(rows()["A1"]))
    assert Figure("32K fresh x 8 clients, fixed 131K slots", "completed", text="8/8") in a1
    decode = next(f for f in a1 if f.metric == "decode_tps")
    assert (decode.value, decode.value_max, decode.unit) == (35, 43, "tok/s")
    assert decode.is_approximate
    assert [f.is_historical for f in a1 if f.value == 104.0] == [True]
    assert [f.reported_by for f in a1 if f.metric == "prompt_tps"] == ["server metric"]
    b3 = [f for f in figures_of(rows()["B3"]) if f.workload == "fresh prefill wall"]
    assert [(f.x_label, f.value, f.unit) for f in b3][::4] == [
        ("8K", 9.24, "s"),
        ("131K", 235.043, "s"),
    ]
    a3 = list(figures_of(rows()["A3"]))
    assert [(f.metric, f.value) for f in a3] == [("rps", 5.65), ("errors", 0)]


@pytest.mark.parametrize(
    ("model", "family", "size", "tune"),
    [
        ("Qwen 3.6 35B A3B Genesis-Hermes V2", "Qwen 3.6", "35B A3B", "Genesis-Hermes V2"),
        ("Qwen3 Embedding 4B", "Qwen3 Embedding", "4B", ""),
        ("Official Gemma 4 31B IT", "Official Gemma 4", "31B", "IT"),
        ("SmolLM2-135M-Instruct", "SmolLM2", "135M", "Instruct"),
        ("Nameless", "Nameless", "", ""),
    ],
)
def test_it_reads_family_size_and_tune_out_of_a_name(
    model: str, family: str, size: str, tune: str
) -> None:
    assert model_parts(model) == {"family": family, "size_label": size, "tune": tune}


def test_each_deployment_has_an_address_of_its_own() -> None:
    slugs = [deployment_slug(row) for row in REPORT["deployments"]]
    assert len(set(slugs)) == 22
    assert slugs[0] == "qwen3-6-35b-a3b-genesis-hermes-v2-llama-cpp"


def test_remarks_without_a_field_become_the_note() -> None:
    assert deployment_note(rows()["B1"]) == "The report also ran it with mlx-lm."
    assert deployment_note(rows()["B3"]) == "Vision encoder removed."
    assert "re-validation due" in deployment_note(rows()["D4"])
    assert "no evidence of isolated load" in deployment_note(rows()["D4"])
