"""Figures: units, gaps, colours by name, and the rules that Plotly may not insert itself."""

from __future__ import annotations

import json
import math

import pytest

from runs.plots import Axis, build, bytes_unit, drawn_rows, guard_line, line, points, time_unit
from runs.plots.stylesheet import BUNDLE, STYLESHEET, rules, stylesheet
from runs.plots.units import GIB, said_bytes, said_time


def test_it_names_units_by_what_is_shown() -> None:
    assert bytes_unit(300 * 1024**2)[1] == "MiB"
    assert bytes_unit(GIB)[1] == "GiB"
    assert [time_unit(ms)[1] for ms in (900, 60_000, 600_000, 86_400_000, 604_800_000)] == [
        "s",
        "s",
        "min",
        "h",
        "d",
    ]
    assert said_bytes(34.125 * GIB) == "34.1 GiB"
    assert said_time(90_000) == "90 s"


def test_it_builds_json_without_nan_template_or_fixed_colours() -> None:
    figure = build(
        [
            line("RSS", [0, 1, 2], [1.0, math.nan, 3.0]),
            points("peaks", [1], [2.0], series=2, yaxis="y2"),
            guard_line("guard", [0, 2], 4.0),
        ],
        x_title="min",
        axes=[Axis("GiB", 3), Axis("slots", 1)],
    )
    text = json.dumps(figure, allow_nan=False)
    assert "var(--series-1)" in text and "var(--bad)" in text
    assert "#" not in text, "a colour that no theme would change"
    assert "template" not in text and len(text) < 4000
    assert figure["data"][0]["y"] == [1.0, None, 3.0]


def test_it_stacks_panels_from_the_top_down_without_overlap() -> None:
    layout = build([], x_title="s", axes=[Axis("a", 3), Axis("b", 1), Axis("c", 1)])["layout"]
    domains = [layout[name]["domain"] for name in ("yaxis", "yaxis2", "yaxis3")]
    assert domains[0][1] == 1.0 and domains[2][0] == pytest.approx(0.0, abs=1e-9)
    assert domains[0][0] > domains[1][1] > domains[1][0] > domains[2][1]


def test_it_lists_every_point_that_it_draws_with_its_units() -> None:
    figure = build(
        [line("RSS", [0, 1], [1.0, math.nan]), points("busy", [0], [2], yaxis="y2")],
        x_title="min",
        axes=[Axis("GiB"), Axis("slots")],
    )
    assert list(drawn_rows(figure)) == [
        ["RSS", 0.0, "min", 1.0, "GiB"],
        ["RSS", 1.0, "min", None, "GiB"],
        ["busy", 0.0, "min", 2.0, "slots"],
    ]


def test_it_ships_exactly_the_style_rules_of_the_bundle() -> None:
    bundle = BUNDLE.read_text()
    assert STYLESHEET.read_text() == stylesheet(bundle)
    start = bundle.index('{"X,X div":')
    table = bundle[start : bundle.index("}", start)]
    told = table.count(',"X') + table.count(",Y:") + table.count(',"Y') + 1
    assert len(rules(bundle)) == told > 50
