"""Server-sent events and NDJSON, read tolerantly out of stamped bytes.

Line ends may be LF, CRLF or CR, cut anywhere; the space after the colon, the last blank line and
even the last newline may be missing. What is not an event is kept as a stray line: gateways put
errors there. (WHATWG HTML, section 9.2, plus what real servers do.)
"""

from __future__ import annotations

import codecs
from enum import StrEnum
from typing import NamedTuple


class LineKind(StrEnum):
    EVENT = "event"
    COMMENT = "comment"
    STRAY = "stray"


class Item(NamedTuple):
    """One event, comment or stray line. `at_ns`: when the last byte of its text had arrived."""

    kind: LineKind
    at_ns: int
    data: str
    event: str = ""
    is_terminated: bool = True


class LineSplitter:
    """Bytes to complete lines, whatever the cuts. `is_oversized` once a line passes the limit."""

    def __init__(self, line_bytes: int) -> None:
        self.is_oversized = False
        self._limit = line_bytes
        self._rest = b""
        self._after_cr = False
        self._at_start = True

    @property
    def is_between_lines(self) -> bool:
        return not (self._rest or self._after_cr)

    def feed(self, data: bytes) -> list[bytes]:
        """The lines completed by these bytes, without their ends."""
        if self._after_cr and data[:1] == b"\n":
            data = data[1:]
            self._after_cr = False
        if not data:
            return []
        self._after_cr = data[-1:] == b"\r"
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        text = self._rest + data if self._rest else data
        if self._at_start:
            text = self._strip_bom(text)
        *lines, self._rest = text.split(b"\n")
        if len(text) > self._limit and any(len(x) > self._limit for x in (*lines, self._rest)):
            self.is_oversized = True
            self._rest = b""
            return []
        return lines

    def _strip_bom(self, text: bytes) -> bytes:
        if codecs.BOM_UTF8.startswith(text):  # still undecided
            return text
        self._at_start = False
        return text.removeprefix(codecs.BOM_UTF8)

    def close(self) -> bytes:
        """The last line, when the stream ended without its newline."""
        rest, self._rest = self._rest, b""
        return rest


class SSEParser:
    """Feed (arrival ns, bytes); get items in order."""

    def __init__(self, line_bytes: int) -> None:
        self._lines = LineSplitter(line_bytes)
        self._data: list[str] = []
        self._event = ""
        self._data_ns = 0
        self._last_ns = 0

    @property
    def is_oversized(self) -> bool:
        return self._lines.is_oversized

    @property
    def is_between_items(self) -> bool:
        """Whatever comes next starts a new line of a new event."""
        return self._lines.is_between_lines and not self._data and not self._event

    def feed(self, at_ns: int, data: bytes) -> list[Item]:
        """The items completed by this block."""
        self._last_ns = at_ns
        items: list[Item] = []
        for line in self._lines.feed(data):
            self._line(at_ns, line, items)
        return items

    def close(self) -> list[Item]:
        """What was still open at the end of the body, marked as unterminated."""
        items: list[Item] = []
        if rest := self._lines.close():
            self._line(self._last_ns, rest, items)
        if self._data:
            items.append(self._dispatch(is_terminated=False))
        return items

    def _line(self, at_ns: int, line: bytes, items: list[Item]) -> None:
        if not line:
            if self._data:
                items.append(self._dispatch())
            self._event = ""
        elif line[:5] == b"data:":
            self._data.append(_value(line[5:]))
            self._data_ns = at_ns
        elif line[:1] == b":":
            items.append(Item(LineKind.COMMENT, at_ns, line[1:].decode("utf-8", "replace")))
        else:
            self._field(at_ns, line, items)

    def _field(self, at_ns: int, line: bytes, items: list[Item]) -> None:
        name, _, value = line.partition(b":")
        if name == b"event":
            self._event = _value(value)
        elif name == b"data":  # without a colon: an empty line of data
            self._data.append("")
            self._data_ns = at_ns
        elif name not in (b"id", b"retry"):
            items.append(Item(LineKind.STRAY, at_ns, line.decode("utf-8", "replace")))

    def _dispatch(self, *, is_terminated: bool = True) -> Item:
        item = Item(
            LineKind.EVENT, self._data_ns, "\n".join(self._data), self._event, is_terminated
        )
        self._data.clear()
        self._event = ""
        return item


class NDJSONParser:
    """One JSON value a line; blank lines are keep-alives."""

    def __init__(self, line_bytes: int) -> None:
        self._lines = LineSplitter(line_bytes)
        self._last_ns = 0

    @property
    def is_oversized(self) -> bool:
        return self._lines.is_oversized

    @property
    def is_between_items(self) -> bool:
        """Whatever comes next starts a new line."""
        return self._lines.is_between_lines

    def feed(self, at_ns: int, data: bytes) -> list[Item]:
        """The lines completed by this block."""
        self._last_ns = at_ns
        lines = self._lines.feed(data)
        return [_json_line(at_ns, line) for line in lines if line.strip()]

    def close(self) -> list[Item]:
        """A last line without its newline."""
        rest = self._lines.close()
        return [_json_line(self._last_ns, rest, is_terminated=False)] if rest.strip() else []


def _json_line(at_ns: int, line: bytes, *, is_terminated: bool = True) -> Item:
    text = line.decode("utf-8", "replace")
    return Item(LineKind.EVENT, at_ns, text, is_terminated=is_terminated)


def _value(raw: bytes) -> str:
    return raw.removeprefix(b" ").decode("utf-8", "replace")
