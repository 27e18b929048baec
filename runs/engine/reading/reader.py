"""Reads a body as it arrives: feed blocks, then close. Decides the framing by what comes."""

from __future__ import annotations

import json
from typing import Any

from runs.engine.reading.model import Fault, Framing, Reading
from runs.engine.reading.objects import ObjectReader
from runs.engine.sse import Item, LineKind, NDJSONParser, SSEParser

EXCERPT_CHARS = 4096
DONE = "[DONE]"


class BodyReader:
    """One response body. `reading` grows while blocks are fed; nothing here ever raises.

    `content_type` is the bare media type; it may also be set on `reading` before the first block.
    """

    def __init__(self, *, content_type: str, line_bytes: int) -> None:
        self.reading = Reading(content_type=content_type)
        self._objects = ObjectReader(self.reading)
        self._line_bytes = line_bytes
        self._parser: SSEParser | NDJSONParser | None = None
        self._whole: list[bytes] = []
        self._undecided = b""
        self._last_ns = 0

    def feed(self, at_ns: int, data: bytes) -> None:
        """One block of body bytes with its arrival."""
        reading = self.reading
        if not reading.body_bytes:
            reading.first_byte_ns = at_ns
        reading.last_byte_ns = self._last_ns = at_ns
        reading.body_bytes += len(data)
        self._keep_excerpt(data)
        if self._parser is not None:
            self._take(self._parser.feed(at_ns, data))
        elif self._whole:
            self._whole.append(data)
        else:
            self._decide(at_ns, data)

    def close(self) -> Reading:
        """The end of the body; gives the finished reading."""
        if self._parser is None and self._undecided:
            self._start_whole(self._undecided)
        if self._parser is not None:
            self._take(self._parser.close())
        elif self._whole:
            self._read_whole(b"".join(self._whole))
        self._objects.close()
        return self.reading

    def tail(self, chars: int) -> str:
        """The last characters that were said, for people who watch."""
        return self._objects.tail(chars)

    # --- framing ---

    def _decide(self, at_ns: int, data: bytes) -> None:
        """By the content type; where that says nothing, by the first bytes that are not blank."""
        declared = self.reading.content_type
        if declared == "text/event-stream":
            self._start(Framing.SSE, SSEParser(self._line_bytes), at_ns, data)
        elif declared in ("application/x-ndjson", "application/jsonl", "application/ndjson"):
            self._start(Framing.NDJSON, NDJSONParser(self._line_bytes), at_ns, data)
        else:
            self._undecided += data
            self._guess(at_ns)

    def _guess(self, at_ns: int) -> None:
        start = self._undecided.lstrip()
        if not start or (b"data:".startswith(start[:5]) and len(start) < 5):
            return
        if start.startswith((b"data:", b"event:", b": ", b":\n")):
            self._start(Framing.SSE, SSEParser(self._line_bytes), at_ns, self._undecided)
        else:
            self._start_whole(self._undecided)

    def _start(
        self, framing: Framing, parser: SSEParser | NDJSONParser, at_ns: int, data: bytes
    ) -> None:
        self.reading.framing = framing
        self._parser = parser
        self._undecided = b""
        self._take(parser.feed(at_ns, data))

    def _start_whole(self, data: bytes) -> None:
        self._undecided = b""
        self.reading.leading_blanks = len(data) - len(data.lstrip())
        self._whole = [data]

    # --- streams ---

    def _take(self, items: list[Item]) -> None:
        for item in items:
            if item.kind is LineKind.COMMENT:
                self.reading.comments += 1
            elif item.kind is LineKind.STRAY:
                self._stray(item)
            else:
                self._event(item)
        if self._parser is not None and self._parser.is_oversized:
            self.reading.is_oversized = True

    def _event(self, item: Item) -> None:
        reading = self.reading
        reading.events += 1
        if reading.first_event_ns is None:
            reading.first_event_ns = item.at_ns
        reading.ends_unterminated = not item.is_terminated
        text = item.data.strip()
        if text == DONE:
            reading.done_ns = reading.done_ns or item.at_ns
            return
        if reading.done_ns is not None:
            reading.events_after_done += 1
        if text:
            self._parse(item, text)

    def _parse(self, item: Item, text: str) -> None:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            self._resynchronise(item, text, str(error))
            return
        if isinstance(value, dict):
            self._objects.read(item.at_ns, value, item.event, text)
        else:
            self.reading.faults.append(Fault(item.at_ns, text[:EXCERPT_CHARS], "no JSON object"))

    def _resynchronise(self, item: Item, text: str, why: str) -> None:
        """A frame cut mid-object with the next one glued on: keep the fault, read the rest."""
        self.reading.faults.append(Fault(item.at_ns, text[:EXCERPT_CHARS], why))
        _, found, rest = text.partition("data:")
        if found and rest.strip():
            self._event(Item(LineKind.EVENT, item.at_ns, rest, item.event))

    def _stray(self, item: Item) -> None:
        """Outside any event: an error printed into the stream, or half of a broken one."""
        text = item.data.strip()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and self._objects.read_error(
            item.at_ns, value, text, was_event=False
        ):
            return
        self.reading.faults.append(
            Fault(item.at_ns, text[:EXCERPT_CHARS], "a line outside any event")
        )

    # --- whole bodies ---

    def _read_whole(self, body: bytes) -> None:
        reading, at_ns = self.reading, self._last_ns
        text = body.decode("utf-8", "replace").strip().removeprefix("\ufeff")
        if not text:
            return
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            self._read_lines_or_text(text)
            return
        reading.framing = Framing.JSON
        reading.json_body = value
        if isinstance(value, dict):
            self._objects.read(at_ns, value, "", text)

    def _read_lines_or_text(self, text: str) -> None:
        """Several JSON objects, one a line, are NDJSON with a wrong label."""
        lines = [line for line in text.splitlines() if line.strip()]
        values = [_object_or_none(line) for line in lines]
        if len(values) > 1 and values[0] is not None:
            self.reading.framing = Framing.NDJSON
            for line in lines:
                self._event(Item(LineKind.EVENT, self._last_ns, line))
        else:
            self.reading.framing = Framing.TEXT

    def _keep_excerpt(self, data: bytes) -> None:
        reading = self.reading
        if len(reading.text) < EXCERPT_CHARS:
            room = EXCERPT_CHARS - len(reading.text)
            reading.text += data[:room].decode("utf-8", "replace")
        tail = data[-EXCERPT_CHARS:].decode("utf-8", "replace")
        reading.text_tail = (reading.text_tail + tail)[-EXCERPT_CHARS:]


def _object_or_none(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
