"""How numbers are written: unit beside them, exact value on hover, a dash with a reason."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template

from catalog.models import Revision
from runs.templatetags.figures import (
    ago,
    bytes_gib,
    configuration_short,
    dash,
    duration,
    ms,
    number,
    outcome_badge,
    tokens_short,
    verdict_badge,
)

NARROW = "\u202f"


def text(written: str) -> str:
    return written.split(">", 1)[1].split("<")[0].replace(NARROW, " ")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.42, "0.42 ms"),
        (81.25, "81.2 ms"),
        (812.4, "812 ms"),
        (12_400, "12.4 s"),
        (200_000, "3 min 20 s"),
        (4_320_000, "1 h 12 min"),
        (0, "0 ms"),
    ],
)
def test_milliseconds_are_humane_and_exact_on_hover(value: float, shown: str) -> None:
    assert text(ms(value)) == shown
    assert f'title="{value:,.3f} ms"' in ms(value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(5, "5 s"), (61, "1 min 1 s"), (3600, "1 h"), (90_000, "1 d 1 h"), (59.999, "60 s")],
)
def test_durations_take_the_two_largest_units(value: float, shown: str) -> None:
    assert text(duration(value)) == shown
    assert text(duration(timedelta(seconds=value))) == shown


def test_numbers_are_grouped_and_keep_their_unit() -> None:
    assert text(number(1883.86, "tok/s")) == "1 884 tok/s"
    assert text(number(15.13, "tok/s")) == "15.1 tok/s"
    assert text(number(8)) == "8"
    assert text(bytes_gib(512 * 2**30)) == "512 GiB"
    assert text(bytes_gib(5 * 2**20)) == "5 MiB"
    assert tokens_short(131072) == "131K"


@pytest.mark.parametrize("written", [ms(None), number(None), duration(None), bytes_gib(None)])
def test_what_is_missing_is_a_dash_with_a_reason_and_never_zero(written: str) -> None:
    assert "–" in written
    assert '<span class="visually-hidden">not recorded</span>' in written
    assert "0" not in written


def test_a_reason_is_escaped() -> None:
    assert "<b>" not in dash("<b>")


def test_an_age_carries_the_moment_in_utc() -> None:
    moment = datetime.now(UTC) - timedelta(minutes=5)
    written = ago(moment)
    assert text(written) == "5 min ago"
    assert f'datetime="{moment.isoformat(timespec="seconds")}"' in written
    assert "UTC" in written
    assert "never" in ago(None)


@pytest.mark.parametrize("outcome", ["clean_pass", "degraded", "inconclusive", "fail", "running"])
def test_an_outcome_is_told_by_colour_shape_and_word(outcome: str) -> None:
    written = outcome_badge(outcome)
    assert f"outcome-{outcome}" in written
    assert "<use href=" in written
    assert outcome.split("_")[0].capitalize() in written


def test_no_verdict_is_told_as_unreviewed() -> None:
    assert "Unreviewed" in verdict_badge(None)
    assert "verdict-primary" in verdict_badge("primary")


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"parallel": 8, "context_per_slot": 131072, "kv_type": "F16"}, "p8 · 8×131K · F16"),
        ({"parallel": 4}, "p4"),
        ({"context_total": 32768}, "32K total"),
        ({"context_per_slot": 8192}, "?×8K"),
        ({}, ""),
    ],
)
def test_a_configuration_is_told_in_short(fields: dict[str, int], shown: str) -> None:
    assert configuration_short(Revision(**fields)) == shown


def test_they_are_there_in_every_template_without_loading() -> None:
    page = Template("{{ t|ms }} {% icon 'play' 'Start' %}").render(Context({"t": 5}))
    assert "5\u202fms" in page
    assert 'role="img" aria-label="Start"' in page
