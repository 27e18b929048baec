from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from verdicts.inventory import InventoryQuery, chips, facets, filtered
from verdicts.matrix import build_matrix


def row(**changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "id": 1,
        "route": "heretic",
        "model": "Qwen 3.6 27B Heretic",
        "quantization": "Q4_K_M",
        "family": "Qwen 3.6",
        "tune": "Heretic",
        "task": "generation",
        "size": "27B",
        "format": "GGUF",
        "runtime": "llama.cpp",
        "runtime_name": "llama.cpp",
        "host": "mac",
        "host_name": "Mac",
        "slug": "heretic",
        "verdict": "primary",
        "last_run": None,
        **changes,
    }
    return {**facts, "words": f"{facts['model']} {facts['runtime_name']}".lower()}


ROWS = [
    row(slug="a"),
    row(slug="b", verdict="rejected", runtime="ollama", runtime_name="Ollama", last_run=3),
    row(slug="c", verdict="unreviewed", model="Gemma 4 31B", size="31B", last_run=9),
    row(slug="d", verdict="candidate", runtime="omlx", runtime_name="oMLX", format="MLX"),
]


def ask(address: str) -> InventoryQuery:
    return InventoryQuery.from_address(QueryDict(address))


def slugs(address: str) -> str:
    return "".join(found["slug"] for found in filtered(ROWS, ask(address)))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("", "adcb"),
        ("verdict=primary", "a"),
        ("verdict=primary&verdict=rejected", "ab"),
        ("verdict=primary&runtime=ollama", ""),
        ("q=heretic+ollama", "b"),
        ("q=HERETIC", "adb"),
        ("size=31B", "c"),
        ("sort=-verdict", "bcda"),
        ("sort=last_run", "cbad"),
        ("sort=runtime", "cabd"),
        ("sort=nonsense&view=cube&page=x&verdict=", "adcb"),
        ("runtime=abacus", ""),
    ],
)
def test_an_address_says_which_rows_in_which_order(address: str, expected: str) -> None:
    assert slugs(address) == expected


def test_an_address_survives_being_read_and_written() -> None:
    address = "q=a+b&verdict=primary&verdict=rejected&runtime=llama.cpp&sort=-model&view=matrix"
    assert ask(address).encode() == address
    assert ask("sort=verdict&view=table&q=").encode() == ""


def test_a_facet_counts_under_the_other_choices_but_not_its_own() -> None:
    verdict, runtime, *_ = facets(ROWS, ask("verdict=primary"))
    assert {v.value: v.count for v in verdict.values} == {
        "primary": 1,
        "candidate": 1,
        "blocked": 0,
        "rejected": 1,
        "unreviewed": 1,
    }
    assert {v.value: v.count for v in runtime.values} == {"llama.cpp": 1, "ollama": 0, "omlx": 0}
    assert verdict.chosen_count == 1


def test_a_value_is_added_and_taken_away_by_its_address() -> None:
    verdict = facets(ROWS, ask("verdict=primary"))[0]
    toggles = {v.value: v.toggle for v in verdict.values}
    assert toggles["rejected"] == "verdict=primary&verdict=rejected"
    assert toggles["primary"] == ""


def test_a_chip_takes_away_one_choice_even_an_unknown_one() -> None:
    query = ask("q=x&verdict=primary&runtime=abacus")
    assert chips(facets(ROWS, query), query) == [
        ("Verdict: Primary", "q=x&runtime=abacus"),
        ("Runtime: abacus", "q=x&verdict=primary"),
        ("Text: x", "verdict=primary&runtime=abacus"),
    ]


def test_the_matrix_puts_each_deployment_where_model_and_runtime_meet() -> None:
    matrix = build_matrix(ROWS, ask(""))
    assert matrix.runtimes == ["llama.cpp", "ollama", "omlx"]
    assert [line.title for line in matrix.rows] == ["Qwen 3.6 27B", "Qwen 3.6 31B"]
    cells = [[found["slug"] for found in cell.rows] for cell in matrix.rows[0].cells]
    assert cells == [["a"], ["b"], ["d"]]


def test_a_crowded_cell_is_cut_and_leads_to_the_rest() -> None:
    many = [row(slug=str(n), verdict="rejected") for n in range(9)] + [row(slug="first")]
    cell = build_matrix(many, ask("view=matrix")).rows[0].cells[0]
    assert (len(cell.rows), cell.more, cell.rows[0]["slug"]) == (6, 4, "first")
    assert cell.address == "q=Qwen+3.6+27B&runtime=llama.cpp"
