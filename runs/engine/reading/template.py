"""The same chunk again with other text: what most servers send for every token.

A block that equals the last token chunk in all bytes around its text is that object again, so it
needs no JSON reading and no walk through the object. Anything else takes the whole way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from runs.engine.reading.model import TokenKind

TEXT_KEYS = {
    "content": TokenKind.CONTENT,
    "reasoning_content": TokenKind.REASONING,
    "reasoning": TokenKind.REASONING,
    "thinking": TokenKind.REASONING,
}
# What a token chunk may say beside its text; a key that is null says nothing, whatever its name.
CHUNK_KEYS = {"id", "object", "created", "model", "choices", "system_fingerprint", "service_tier"}
CHOICE_KEYS = {"index", "delta"}
TEXT = re.compile(rb'"(%s)"\s*:\s*"((?:[^"\\]|\\.)*)"' % "|".join(TEXT_KEYS).encode())
EVENT_ENDS = (b"\n\n", b"\r\n\r\n")


class ChunkTemplate:
    """The bytes of one token chunk before and after its text."""

    __slots__ = ("_after", "_before", "_start", "_stop", "kind")

    def __init__(self, kind: TokenKind, before: bytes, after: bytes) -> None:
        self.kind = kind
        self._before, self._after = before, after
        self._start, self._stop = len(before), -len(after)

    def texts_of(self, blocks: Sequence[tuple[int, bytes]]) -> list[str]:
        """The texts of the first blocks, up to one that is anything else than this chunk."""
        before, after, start, stop = self._before, self._after, self._start, self._stop
        texts: list[str] = []
        for _, block in blocks:
            if not (block.startswith(before) and block.endswith(after)):
                break
            text = block[start:stop].decode("utf-8", "replace")
            if "\\" in text:
                text = _unescaped(text)
            elif '"' in text or not text.isprintable():
                break
            if not text:
                break
            texts.append(text)
        return texts


def template_of(block: bytes, value: dict[str, Any]) -> ChunkTemplate | None:
    """The template of a block that is one whole event and was read as this object; None where
    the object says more than its text, or the text's place in the bytes is not certain."""
    said = _only_text(value)
    is_event = block.startswith(b"data:") and block.endswith(EVENT_ENDS)
    if said is None or not is_event or block.count(b"\n") != 2:
        return None
    places = [place for place in TEXT.finditer(block) if place[2]]
    if len(places) != 1:
        return None
    key, (start, end) = places[0][1].decode(), places[0].span(2)
    before, after = block[:start], block[end:]
    template = ChunkTemplate(TEXT_KEYS[key], before, after)
    is_certain = key == said[0] and template.texts_of([(0, block)]) == [said[1]]
    return template if is_certain and b"\\" not in before + after else None


def _only_text(value: dict[str, Any]) -> tuple[str, str] | None:
    """The key and text of a chunk of one choice that says nothing else."""
    choices = value.get("choices")
    if not _says_only(value, CHUNK_KEYS) or value.get("object") == "error":
        return None
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return None
    choice = choices[0]
    delta = choice.get("delta")
    if not _says_only(choice, CHOICE_KEYS) or choice.get("index") or not isinstance(delta, dict):
        return None
    said = [(key, text) for key, text in delta.items() if text and key != "role"]
    if len(said) != 1 or said[0][0] not in TEXT_KEYS or not isinstance(said[0][1], str):
        return None
    return said[0]


def _says_only(value: dict[str, Any], keys: set[str]) -> bool:
    return all(said is None or key in keys for key, said in value.items())


def _unescaped(text: str) -> str:
    """A JSON string without its quotes; empty when it is none."""
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return ""
