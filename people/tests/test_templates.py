"""What the strict content policy and the offline promise ask of every template."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

TEMPLATES = sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html"))
ICONS = Path(settings.BASE_DIR, "templates/components/icons.html").read_text()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_it_has_no_inline_style_script_or_handler(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\sstyle\s*=", text)
    assert not re.search(r"<style\b", text)
    assert not re.search(r"""\son[a-z]+=["']""", text)
    for attributes in re.findall(r"<script\b([^>]*)>", text):
        assert "src=" in attributes or 'type="application/json"' in attributes


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_it_asks_no_other_server(path: Path) -> None:
    assert not re.search(r"""(?:src|href|action)=["'](?:https?:)?//""", path.read_text())


def test_every_icon_that_is_used_exists() -> None:
    known = set(re.findall(r'id="i-([a-z-]+)"', ICONS))
    used = {
        name
        for path in TEMPLATES
        for name in re.findall(r"""(?:icon |icon_name=)["']([a-z-]+)["']""", path.read_text())
    }
    assert used <= known
    assert used
