"""Values stay one argument; what cannot be right is refused with a sentence."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.launch.arguments import ArgumentRefused, Parameters, check_templates, fill

HOSTILE = "a b; touch /tmp/x && $(id) `id` | \"'{port} --port 1"


def test_it_fills_each_place_and_computes_the_total() -> None:
    values = Parameters(parallel=8, context_per_slot=131_072, port=9000).values()
    argv = fill(["-np", "{parallel}", "-c", "{context_total}", "--port={port}"], values)
    assert argv == ["-np", "8", "-c", "1048576", "--port=9000"]


def test_it_keeps_a_hostile_value_one_argument_all_the_way_to_the_program() -> None:
    argv = fill(["--model", "{model_path}"], Parameters(model_path=HOSTILE, port=1).values())
    code = "import sys; print(len(sys.argv), sys.argv[2])"
    told = subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True)
    assert told.stdout == f"3 {HOSTILE}\n"


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=80))
def test_it_never_splits_expands_or_changes_a_path(path: str) -> None:
    try:
        values = Parameters(model_path=path).values()
    except ArgumentRefused:
        assert path.startswith("-") or not path.isprintable()
        return
    assert fill(["-m", "{model_path}"], values) == ["-m", path]


@pytest.mark.parametrize("path", ["--host=0.0.0.0", "-m", "a\x00b", "a\nb", "x" * 1001])
def test_it_refuses_a_path_that_is_a_flag_or_cannot_be_passed(path: str) -> None:
    with pytest.raises(ArgumentRefused):
        Parameters(model_path=path).values()


@pytest.mark.parametrize(
    "wrong",
    [
        {"parallel": 0},
        {"parallel": 4096},
        {"parallel": "4"},
        {"parallel": True},
        {"context_per_slot": -1},
        {"port": 70_000},
        {"kv_type": "f16 --host"},
        {"prompt_cache_mib": 1.5},
    ],
)
def test_it_refuses_values_out_of_type_or_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentRefused):
        Parameters(**wrong).values()


def test_it_refuses_unknown_places_and_names_the_known_ones() -> None:
    with pytest.raises(ArgumentRefused, match=r"no parameter \{model\}.*\{model_path\}"):
        check_templates(["{model}"])


def test_it_leaves_other_braces_alone() -> None:
    assert fill(['{"enable_thinking": false}'], {}) == ['{"enable_thinking": false}']


def test_it_says_which_value_is_missing() -> None:
    with pytest.raises(ArgumentRefused, match="context_total"):
        fill(["-c", "{context_total}"], Parameters().values())


@pytest.mark.parametrize("flag", ["--api-key", "--api-key=abc", "--hf-token", "--password=x"])
def test_it_refuses_keys_in_arguments(flag: str) -> None:
    with pytest.raises(ArgumentRefused, match="environment variable"):
        check_templates([flag])


def test_it_takes_flags_about_tokens_for_what_they_are() -> None:
    check_templates(["--max-tokens", "--max-num-batched-tokens=2048"])
