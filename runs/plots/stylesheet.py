"""Writes static/css/plotly.css: `python -m runs.plots.stylesheet`, after each Plotly update.

Plotly inserts its own style rules by script, which a strict content policy refuses (plotly.js
issue 7543), and then stacks the parts of a chart below each other. It inserts nothing where an
element with the id `plotly.js-style-global` and the class `no-inline-styles` exists: our link to
these same rules.
"""

from __future__ import annotations

import re
from pathlib import Path

STATIC = Path(__file__).resolve().parent.parent.parent / "static"
BUNDLE = STATIC / "vendor" / "plotly" / "plotly-cartesian.min.js"
STYLESHEET = STATIC / "css" / "plotly.css"

TABLE = re.compile(r'\{("X,X div":[^{}]+)\}')
TEXT = r"""("[^"]*"|'[^']*'|[XY])"""
RULE = re.compile(TEXT + ":" + TEXT)
PLACES = {"X": ".js-plotly-plot .plotly", "Y": ".plotly-notifier"}


def rules(bundle: str) -> list[tuple[str, str]]:
    """(selector, declarations) in the order of the cascade. Raises ValueError when not found."""
    table = TABLE.search(bundle)
    if table is None:
        raise ValueError("The style rules are not where they were in this version of Plotly.")
    found = [(_selector(m[1].strip("\"'")), m[2][1:-1]) for m in RULE.finditer(table[1])]
    return found[::-1]  # the library inserts each one before the last


def _selector(short: str) -> str:
    return re.sub("[XY]", lambda letter: PLACES[letter[0]], short)


def stylesheet(bundle: str) -> str:
    lines = [f"{selector} {{ {body} }}" for selector, body in rules(bundle)]
    return "\n".join(
        ["/* Made by runs/plots/stylesheet.py from the Plotly bundle. */", *lines, ""]
    )


if __name__ == "__main__":
    STYLESHEET.write_text(stylesheet(BUNDLE.read_text()))
